"""One run of a sweep, on a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from powervisor.command import PowerVisorError, call_for_json, settings_as_arguments
from powervisor.sweep.fingerprint import fingerprint

if TYPE_CHECKING:
    from powervisor.sweep.plan import Run
    from powervisor.sweep.store import Row


def execute(run: Run, expected: str) -> list[Row]:
    """Run it with a command whose fingerprint is as expected, and return its figures."""
    if fingerprint() != expected:
        raise PowerVisorError("a worker has another powervisor or other images; install the same wheel on all machines")
    settings = settings_as_arguments(run.settings)
    ends = [] if run.has_ends else ["--values-only"]
    if run.variant is None:
        report = call_for_json(["calibrate", "--machine", run.machine, *settings, *ends])
        return [
            {
                "metric": row["name"],
                "value": row["model"],
                "low": row["low"] if run.has_ends else None,
                "high": row["high"] if run.has_ends else None,
                "unit": row["unit"],
                "published": [row["published"]],
            }
            for row in report["rows"]
        ]
    which = [run.experiment, "--variant", run.variant, "--machine", run.machine, "--seed", str(run.seed)]
    report = call_for_json(["run", *which, *settings, *ends])
    return [
        {
            **{key: row[key] for key in ("metric", "value", "low", "high", "unit")},
            "published": [published["value"] for published in row["published"]],
        }
        for row in report["rows"]
    ]
