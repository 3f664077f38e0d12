"""Runs of experiments, and what they found as data frames."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from powervisor.command import SCHEMA, PowerVisorError, call_for_json, settings_as_arguments
from powervisor.experiment import Experiment
from powervisor.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The columns by which ``diff`` sums, finest last.
BY = {
    "cause": ["cause", "indirect"],
    "function": ["owner", "function", "cause", "indirect"],
    "instruction": ["owner", "function", "offset", "instruction", "cause", "indirect"],
}


@dataclass(frozen=True)
class Report:
    """What a run found: the command's JSON (docs/json.md), and views of it as data frames."""

    contents: dict[str, Any]

    @classmethod
    def read(cls, path: str | Path) -> Report:
        """Read what ``powervisor run --format json`` or ``save`` wrote."""
        try:
            contents = json.loads(Path(path).read_bytes())
            schema = contents["schema"]
        except (ValueError, TypeError, KeyError):
            raise PowerVisorError(f"{path}: not a report; it must be what `powervisor run --format json` prints") from None
        if schema != SCHEMA:
            raise PowerVisorError(f"{path}: a report of form {schema}; this package reads form {SCHEMA}")
        return cls(contents)

    def save(self, path: str | Path) -> None:
        """Write the JSON into a file, for ``powervisor diff`` and ``powervisor report``."""
        Path(path).write_text(json.dumps(self.contents) + "\n", encoding="utf-8")

    @property
    def figures(self) -> pd.DataFrame:
        """A line per variant and metric: ``value`` in ``unit``, and from ``low`` to ``high`` with the guesses at their ends."""
        columns = ["variant", "metric", "value", "low", "high", "unit", "region"]
        figures = pd.DataFrame(self.contents["rows"], columns=columns)
        numbers = ["value", "low", "high"]
        figures[numbers] = figures[numbers].astype(float)
        return figures

    @property
    def published(self) -> pd.DataFrame:
        """What others published of the same: a line per variant, metric and published figure, in the figure's unit."""
        lines = [
            {"variant": row["variant"], "metric": row["metric"], **published}
            for row in self.contents["rows"]
            for published in row["published"]
        ]
        return pd.DataFrame(lines, columns=["variant", "metric", "value", "what", "source"])

    @property
    def ledger(self) -> pd.DataFrame:
        """Where the cycles went: a line per variant, owner, instruction and cause.

        ``cycles`` are thread-cycles of the whole region; ``cycles_each`` are divided by what ``per`` of the report names.
        """
        columns = ["variant", "owner", "function", "offset", "instruction", "cause", "indirect", "cycles"]
        lines = [
            {"variant": variant, **charge}
            for variant, ledger in self.contents["ledger"].items()
            for charge in ledger["charges"]
        ]
        table = pd.DataFrame(lines, columns=columns)
        divisors = {name: variant["divisor"] for name, variant in self.contents.get("variants", {}).items()}
        table["cycles_each"] = table["cycles"] / table["variant"].map(divisors).fillna(1)
        return table


def measure(  # noqa: PLR0913 - the options of `powervisor run`
    experiment: str | Path | Experiment,
    *,
    variants: Sequence[str] = (),
    machine: str | Path | Machine | None = None,
    set: Mapping[str, float] | None = None,  # noqa: A002 - as the command calls it
    seed: int = 1,
    guesses: bool = True,
    functional: bool = False,
) -> Report:
    """Run an experiment on the machine, and return all that it found.

    ``experiment`` is a name (``null-hypercall``), a file, or an Experiment; ``variants`` are all if none is named.
    ``machine`` is instead of the experiment's; ``set`` gives values of its description, each in its unit, see Machine.set.
    ``seed`` decides the run's random choices: the same seed makes the same run. With ``guesses`` the variants also run with
    all guesses at their ends, which takes three times as long and gives ``low`` and ``high``. ``functional`` counts
    instructions without cycles. Raise PowerVisorError if a run goes wrong or something is not as needed.
    """
    with ExitStack() as files:
        lend = lambda value: files.enter_context(value.file())  # noqa: E731
        named = lend(experiment) if isinstance(experiment, Experiment) else experiment
        if isinstance(variants, str):
            raise PowerVisorError(f"variants is {variants!r}; it must be a list of names")
        if str(named).startswith("-"):
            raise PowerVisorError(f"{named}: no experiment has such a name; an option of the command is an argument here")
        arguments = ["run", str(named), "--seed", str(seed), *settings_as_arguments(set)]
        if machine is not None:
            arguments += ["--machine", str(lend(machine) if isinstance(machine, Machine) else machine)]
        for variant in variants:
            arguments += ["--variant", variant]
        if functional:
            arguments.append("--functional")
        elif not guesses:
            arguments.append("--values-only")
        return Report(call_for_json(arguments))


def run(
    experiment: str | Path | Experiment,
    **options: Any,  # noqa: ANN401 - those of measure
) -> pd.DataFrame:
    """Run an experiment and return its figures, see Report.figures. The options are those of ``measure``."""
    return measure(experiment, **options).figures


def ledger(
    experiment: str | Path | Experiment | Report,
    **options: Any,  # noqa: ANN401 - those of measure
) -> pd.DataFrame:
    """Return where the cycles went, see Report.ledger: of a report, or of a run with the options of ``measure``."""
    report = experiment if isinstance(experiment, Report) else measure(experiment, **options)
    return report.ledger


def diff(
    before: Report,
    after: Report,
    by: Literal["cause", "function", "instruction"] = "function",
    variants: tuple[str, str] | None = None,
) -> pd.DataFrame:
    """Return what became dearer or cheaper, the largest change of each variant first; ``unit`` says what the figures are.

    Sum by ``cause``, by owner, ``function`` and cause, or by ``instruction`` too; leave out what did not change. Compare the
    variants that both reports have, in thread-cycles of the region; or the first of ``variants`` with the second one, in
    cycles per call, as ``powervisor diff --variants`` does.
    """
    if by not in BY:
        raise PowerVisorError(f"by is {by!r}; it must be one of {', '.join(BY)}")
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{side}.json" for side in ("before", "after")]
        for path, report in zip(paths, (before, after), strict=True):
            report.save(path)
        chosen = [] if variants is None else ["--variants", *variants]
        answer = call_for_json(["diff", *map(str, paths), "--by", by, *chosen])
    lines = [
        {"variant": comparison["after"]["variant"], "unit": comparison["unit"]} | line
        for comparison in answer["comparisons"]
        for line in comparison["lines"]
    ]
    return pd.DataFrame(lines, columns=["variant", *BY[by], "before", "after", "change", "unit"])


def calibrate(
    *,
    machine: str | Path | None = None,
    set: Mapping[str, float] | None = None,  # noqa: A002 - as the command calls it
    guesses: bool = True,
) -> pd.DataFrame:
    """Run the micro-benchmarks and return the timing model's figures (``model``) beside the ``published`` ones, in ``unit``.

    The options are as those of ``measure``; docs/json.md describes the columns.
    """
    arguments = ["calibrate", *settings_as_arguments(set)]
    if machine is not None:
        arguments += ["--machine", str(machine)]
    if not guesses:
        arguments.append("--values-only")
    return pd.DataFrame(call_for_json(arguments)["rows"])
