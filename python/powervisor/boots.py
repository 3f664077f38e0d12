"""Boots of partitions and kernels, and what they did."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pandas as pd

from powervisor.command import SCHEMA, PowerVisorError, complaint, complete

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Boot:
    """A boot that came to an end, good or bad: its console, and the command's JSON about it (docs/json.md)."""

    #: What partitions or the kernel wrote on the console.
    console: str
    contents: dict[str, Any]
    #: Why the command says that the boot ended badly, such as a partition that was stopped; None if it ended well.
    error: PowerVisorError | None

    @property
    def end(self) -> str:
        """How the run ended, such as ``powered off``."""
        end: str = self.contents["end"]
        return end

    @property
    def partitions(self) -> pd.DataFrame:
        """List what each partition did, by its name: its ``outcome``, and the hypervisor's counts if it is over."""
        lines = [
            {"name": partition["name"], "outcome": partition["outcome"], **partition["counts"]}
            for partition in self.contents["partitions"]
        ]
        return pd.DataFrame(lines, columns=None if lines else ["name", "outcome"]).set_index("name")

    @property
    def ledger(self) -> pd.DataFrame:
        """Where the cycles of a boot in timing mode went: a line per ledger, owner, instruction and cause."""
        columns = ["ledger", "owner", "function", "offset", "instruction", "cause", "indirect", "cycles"]
        ledgers = self.contents.get("ledger", {})
        lines = [{"ledger": name, **charge} for name, ledger in ledgers.items() for charge in ledger["charges"]]
        return pd.DataFrame(lines, columns=columns)


def boot(*arguments: str | Path) -> Boot:
    """Boot what the arguments of ``powervisor boot`` say, such as ``boot("examples/hello.toml", "--timing")``.

    Raise PowerVisorError if the boot does not begin. One that ends badly has the reason in ``error``.
    """
    words: Sequence[str] = [str(argument) for argument in arguments]
    with TemporaryDirectory(prefix="powervisor-") as folder:
        counts = Path(folder) / "statistics.json"
        done = complete(["boot", *words, "--statistics", "json", "--statistics-file", str(counts)])
        if not counts.exists():
            raise complaint(done)
        contents = json.loads(counts.read_bytes())
    if contents["schema"] != SCHEMA:
        raise PowerVisorError(f"the command's JSON is of form {contents['schema']}; this package reads form {SCHEMA}")
    return Boot(done.stdout, contents, complaint(done) if done.returncode != 0 else None)
