"""Writes a page."""

from __future__ import annotations

import html
import itertools
import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plotly.offline import get_plotlyjs

from powervisor.command import SCHEMA, PowerVisorError
from powervisor.page import calibration, figures, ledgers, sweeps
from powervisor.report import Report
from powervisor.sweep.store import results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from powervisor.page.plot import Plot


def write(paths: Sequence[str | Path], output: str | Path) -> None:
    """Write a page of the results at these paths.

    Each is the JSON of ``powervisor run``, ``calibrate`` or ``boot --statistics json`` in timing mode, or the folder of a
    sweep. Two reports of one experiment are compared, in their order. Raise PowerVisorError if one is none of these.
    """
    plots = list(_plots([Path(path) for path in paths]))
    if not plots:
        raise PowerVisorError(f"{paths[0]}: it has neither figures nor a ledger; name the JSON of a run, or a sweep")
    # Inside of a script, `</` would end it.
    data = json.dumps([plot.for_page() for plot in plots]).replace("</", "<\\/")
    files = resources.files("powervisor.page")
    parts = {
        "TITLE": html.escape("PowerVisor: " + ", ".join(Path(path).stem for path in paths)),
        "STYLE": (files / "page.css").read_text(encoding="utf-8"),
        "PLOTLY": get_plotlyjs(),
        "DATA": data,
        "SCRIPT": (files / "page.js").read_text(encoding="utf-8"),
    }
    page = (files / "page.html").read_text(encoding="utf-8")
    pieces = [parts.get(piece, piece) for piece in page.split("%%")]
    try:
        Path(output).write_text("".join(pieces), encoding="utf-8")
    except OSError as error:
        raise PowerVisorError(f"{output}: cannot be written: {error.strerror}; name a file that can be") from None


def _plots(paths: list[Path]) -> Iterator[Plot]:
    reports: list[tuple[str, Report]] = []
    for path in paths:
        if path.is_dir() or path.suffix == ".parquet":
            yield from sweeps.plots(results(path), path.stem)
            continue
        contents = _contents(path)
        if "experiment" in contents:
            report = Report(contents)
            yield from figures.plots(report, path.stem)
            yield from ledgers.plots(report, path.stem)
            reports.append((path.stem, report))
        elif "rows" in contents:
            yield from calibration.plots(contents, path.stem)
        else:
            raise PowerVisorError(f"{path}: it has no figures; it must be the JSON of run or calibrate, or a sweep")
    for _, of_one in itertools.groupby(sorted(reports, key=_experiment), key=_experiment):
        for (before, first), (after, second) in itertools.pairwise(of_one):
            yield from ledgers.differences(first, second, (before, after))


def _experiment(report: tuple[str, Report]) -> str:
    return str(report[1].contents["experiment"])


def _contents(path: Path) -> dict[str, Any]:
    try:
        contents = json.loads(path.read_bytes())
        schema = contents["schema"]
    except OSError as error:
        raise PowerVisorError(f"{path}: cannot be read: {error.strerror}; it must be JSON of a run, or a sweep") from None
    except (ValueError, TypeError, KeyError):
        raise PowerVisorError(f"{path}: not a report; it must be the JSON of run or calibrate, or a sweep") from None
    if schema != SCHEMA:
        raise PowerVisorError(f"{path}: a report of form {schema}; this package reads form {SCHEMA}")
    return dict(contents)
