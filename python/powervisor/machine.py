"""A machine: its description as a value."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from powervisor.command import call, call_for_json, settings_as_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class Machine:
    """The description of a machine, in TOML. It never changes: ``set`` makes another one."""

    text: str

    @classmethod
    def named(cls, name: str = "power9") -> Machine:
        """Take the description with this name that comes with the command: ``power9`` or ``power8``."""
        return cls(call(["show", name]))

    @classmethod
    def read(cls, path: str | Path) -> Machine:
        """Read the description in a file."""
        return cls(Path(path).read_text(encoding="utf-8"))

    def save(self, path: str | Path) -> None:
        """Write the description into a file, which the command takes with ``--machine``."""
        Path(path).write_text(self.text, encoding="utf-8")

    def set(self, values: Mapping[str, float]) -> Machine:
        """Make a machine with these values, each in the unit of its key.

        A key is a place in the description, such as ``timing.special.scoreboard``, or as much of its end as only one value
        has: ``scoreboard``. A guess that is set has no ends any more. Raise PowerVisorError, which names the nearest key, if
        there is no such value.
        """
        with self.file() as path:
            return Machine(call(["show", str(path), *settings_as_arguments(values)]))

    @property
    def parameters(self) -> pd.DataFrame:
        """List all values: ``value``, ``low`` and ``high`` in ``unit``, with ``confidence`` and ``source``, by ``key``."""
        with self.file() as path:
            shown = call_for_json(["show", str(path)])
        return pd.DataFrame(shown["parameters"]).set_index("key")

    @contextmanager
    def file(self) -> Iterator[Path]:
        """Lend the description as a file, for a call of the command."""
        with tempfile.TemporaryDirectory(prefix="powervisor-") as folder:
            path = Path(folder) / "machine.toml"
            self.save(path)
            yield path
