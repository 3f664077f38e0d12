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


#: What a page is made of.
_EXPECTED = "it must be the JSON of run, calibrate or boot --timing --statistics json, or a sweep"


def write(paths: Sequence[str | Path], output: str | Path) -> None:
    """Write a page of the results at these paths.

    Each is the JSON of ``powervisor run``, ``calibrate`` or ``boot --statistics json`` in timing mode, or the folder of a
    sweep. Two reports of one experiment are compared, in their order. Raise PowerVisorError if one is none of these.
    """
    for path in map(Path, paths):
        if path.exists() and Path(output).exists() and path.samefile(output):
            raise PowerVisorError(f"{output}: is a file that this page is made of; name another one")
    plots = list(_plots([Path(path) for path in paths]))
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
            plots = list(sweeps.plots(results(path), path.stem))
        else:
            plots = _of_report(path, reports)
        if not plots:
            raise PowerVisorError(f"{path}: it has neither figures nor a ledger; {_EXPECTED}")
        yield from plots
    for _, of_one in itertools.groupby(sorted(reports, key=_experiment), key=_experiment):
        for (before, first), (after, second) in itertools.pairwise(of_one):
            yield from ledgers.differences(first, second, (before, after))


def _of_report(path: Path, reports: list[tuple[str, Report]]) -> list[Plot]:
    """Plot one file; a run's is kept among ``reports``."""
    contents = _contents(path)
    try:
        if "experiment" in contents:
            report = Report(contents)
            plots = [*figures.plots(report, path.stem), *ledgers.plots(report, path.stem)]
            reports.append((path.stem, report))
            return plots
        return list(calibration.plots(contents, path.stem)) if "rows" in contents else []
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        raise PowerVisorError(f"{path}: its figures are damaged ({why}); {_EXPECTED}") from None


def _experiment(report: tuple[str, Report]) -> str:
    return str(report[1].contents["experiment"])


def _contents(path: Path) -> dict[str, Any]:
    try:
        contents = json.loads(path.read_bytes())
        schema = contents["schema"]
    except OSError as error:
        raise PowerVisorError(f"{path}: cannot be read: {error.strerror}; {_EXPECTED}") from None
    except (ValueError, TypeError, KeyError):
        raise PowerVisorError(f"{path}: not a report; {_EXPECTED}") from None
    if schema != SCHEMA:
        raise PowerVisorError(f"{path}: a report of form {schema}; this package reads form {SCHEMA}")
    return dict(contents)
