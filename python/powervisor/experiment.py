"""An experiment: its file as a value."""

from __future__ import annotations

import copy
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomlkit

from powervisor.command import call

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tomlkit import TOMLDocument


@dataclass(frozen=True)
class Experiment:
    """An experiment's file; docs/files.md has its keys. ``table`` holds them, ``change`` makes another experiment.

    A payload of your own is named by its absolute path.
    """

    table: TOMLDocument

    @classmethod
    def named(cls, name: str) -> Experiment:
        """Take the experiment with this name that comes with the command, such as ``null-hypercall``."""
        return cls(tomlkit.parse(call(["show", name])))

    @classmethod
    def read(cls, path: str | Path) -> Experiment:
        """Read the experiment in a file."""
        return cls(tomlkit.parse(Path(path).read_text(encoding="utf-8")))

    @property
    def name(self) -> str:
        """The experiment's name."""
        return str(self.table["name"])

    @property
    def variants(self) -> list[str]:
        """The names of the variants that the file lists; those of ``[steps]`` are not among them."""
        return [str(variant["name"]) for variant in self.table.get("variant", [])]

    def change(self, values: Mapping[str, Any]) -> Experiment:
        """Make an experiment with these keys of the file changed, such as ``{"memory": "128 MiB"}``."""
        table = copy.deepcopy(self.table)
        table.update(values)
        return Experiment(table)

    def change_variant(self, name: str, values: Mapping[str, Any]) -> Experiment:
        """Make an experiment with these keys of one variant changed, such as ``{"slice_us": 100}``."""
        table = copy.deepcopy(self.table)
        found = [variant for variant in table.get("variant", []) if variant["name"] == name]
        if not found:
            raise KeyError(f"no variant is called {name}; there are {', '.join(self.variants)}")
        found[0].update(values)
        return Experiment(table)

    def save(self, path: str | Path) -> None:
        """Write the experiment into a file, which ``powervisor run`` takes."""
        Path(path).write_text(tomlkit.dumps(self.table), encoding="utf-8")

    @contextmanager
    def file(self) -> Iterator[Path]:
        """Lend the experiment as a file, for a call of the command."""
        with tempfile.TemporaryDirectory(prefix="powervisor-") as folder:
            path = Path(folder) / "experiment.toml"
            self.save(path)
            yield path
