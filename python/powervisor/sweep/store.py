"""What a sweep found: a folder with a Parquet file for each run, and one of all."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from powervisor.command import PowerVisorError

if TYPE_CHECKING:
    from types import TracebackType

    from powervisor.sweep.plan import Plan

#: One figure, see SCHEMA.
Row: TypeAlias = dict[str, Any]

#: A run's figures: each with its bounds where the guesses ran at their ends, and what others published of it.
SCHEMA = pa.schema(
    [
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("unit", pa.string()),
        ("published", pa.list_(pa.float64())),
    ]
)
#: The file with the figures of all runs.
ALL = "results.parquet"
#: The file with the sweep's name: an edited sweep goes on in its folder, another one does not begin there.
NAME = "name"


class Store:
    """The folder of one sweep, which one process at a time may fill."""

    def __init__(self, folder: Path, name: str) -> None:
        """Make the folder, or take the one that is there and has runs of the sweep with this name."""
        if (
            folder.exists()
            and not (folder / "runs").is_dir()
            and (not folder.is_dir() or any(path.name != "lock" for path in folder.iterdir()))
        ):
            raise PowerVisorError(f"{folder}: it is there, and no sweep wrote it; name another --out")
        self.folder = folder
        self.runs = folder / "runs"
        self.name = name
        self.is_new = not folder.exists()
        theirs = folder / NAME
        if theirs.is_file() and (other := theirs.read_text(encoding="utf-8").strip()) != name:
            raise PowerVisorError(f"{folder}: it has the runs of the sweep `{other}`, not of `{name}`; name another --out")
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            self.lock = (folder / "lock").open("w")
        except OSError as error:
            raise self._full(error) from None

    def __enter__(self) -> Self:
        """Keep others out."""
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.lock.close()
            raise PowerVisorError(
                f"{self.folder}: another sweep writes into it; wait for its end, or name another --out"
            ) from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Let others in; leave nothing of a sweep that found nothing."""
        if self.is_new and not any(self.runs.iterdir()):
            (self.folder / "lock").unlink(missing_ok=True)
            self.runs.rmdir()
            self.folder.rmdir()
        self.lock.close()

    def path(self, key: str) -> Path:
        """Where the run with this key has its file."""
        return self.runs / f"{key}.parquet"

    def has(self, key: str) -> bool:
        """Whether the run with this key is there. One whose file is damaged is not, and runs again."""
        try:
            return bool(pq.read_table(self.path(key)).schema.equals(SCHEMA))
        except (OSError, pa.ArrowException):
            return False

    def write(self, key: str, rows: list[Row]) -> None:
        """Keep what the run with this key found."""
        self._write(self.path(key), pa.Table.from_pylist(rows, SCHEMA))

    def write_all(self, plan: Plan) -> None:
        """Write the figures of all runs of the plan that are there into one file, in the plan's order.

        Say so of runs that are not in it: those of the sweep before its file was changed.
        """
        others = {path.stem for path in self.runs.glob("*.parquet")} - {run.key for run in plan.runs}
        if others:
            sys.stderr.write(
                f"powervisor: {self.folder}: {len(others)} runs are of an earlier form of this sweep, or of another command;"
                f" they stay in {self.runs.name}, and {ALL} leaves them out\n"
            )
        tables = []
        for run in plan.runs:
            if not self.has(run.key):
                continue
            table = pq.read_table(self.path(run.key))
            about = {
                "key": run.key,
                "experiment": Path(run.experiment).stem,
                "variant": run.variant,
                "seed": run.seed,
                "guess": run.guess,
                "end": run.end,
                "settings": json.dumps(run.settings, sort_keys=True),
            }
            for name, value in reversed(about.items()):
                kind = pa.int64() if name == "seed" else pa.string()
                table = table.add_column(0, pa.field(name, kind), pa.array([value] * len(table), kind))
            tables.append(table)
        if tables:
            self._write(self.folder / ALL, pa.concat_tables(tables))
            try:
                (self.folder / NAME).write_text(f"{self.name}\n", encoding="utf-8")
            except OSError as error:
                raise self._full(error) from None

    def _write(self, path: Path, table: pa.Table) -> None:
        """Write a file that is there whole or not at all."""
        beside = path.with_suffix(".part")
        try:
            pq.write_table(table, beside)
            beside.replace(path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise self._full(error) from None

    def _full(self, error: OSError) -> PowerVisorError:
        why = os.strerror(error.errno) if error.errno else str(error)
        kept = "; what was found before is kept, and the next sweep goes on" if self.runs.is_dir() else ""
        return PowerVisorError(f"{self.folder}: cannot be written: {why}{kept}")


def results(folder: str | Path) -> pd.DataFrame:
    """Read what a sweep found: a line per run and metric, with a column for each value of the machine that it sets.

    ``value``, ``low`` and ``high`` are in ``unit``; ``published`` lists what others published of the same; ``guess`` and
    ``end`` say which guess was at which of its ends.
    """
    path = Path(folder)
    path = path / ALL if path.is_dir() else path
    try:
        table = pq.read_table(path).to_pandas()
        settings = pd.DataFrame([json.loads(text) for text in table["settings"]], index=table.index)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise PowerVisorError(
            f"{folder}: cannot be read ({str(error).splitlines()[0]}); it must be what a sweep wrote"
        ) from None
    together: pd.DataFrame = pd.concat([table.drop(columns="settings"), settings], axis=1)
    return together
