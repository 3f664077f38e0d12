"""Boots, good and bad ones."""

from pathlib import Path

import pytest

import powervisor
from powervisor import PowerVisorError

PARTITION = """[[partition]]
name = "first"
payload = "hello"
memory = "16 MiB"
vcpus = 1
"""


def test_a_boot_has_its_console_and_counts(tmp_path: Path) -> None:
    file = tmp_path / "hello.toml"
    file.write_text(PARTITION)
    boot = powervisor.boot(file)
    assert (boot.end, boot.error) == ("powered off", None)
    assert "hello" in boot.console
    first = boot.partitions.loc["first"]
    assert first["outcome"] == "powered off"
    assert first["virtual_door_hypercall"] + first["real_door_hypercall"] > 0
    assert boot.ledger.empty


def test_the_ledger_of_a_boot_has_every_cycle_once(tmp_path: Path) -> None:
    file = tmp_path / "hello.toml"
    file.write_text(PARTITION)
    boot = powervisor.boot(file, "--timing")
    ledger = boot.ledger
    assert set(ledger["ledger"]) == {"boot"}
    assert ledger["cycles"].sum() == boot.contents["ledger"]["boot"]["elapsed_thread_cycles"]


def test_a_boot_that_ends_badly_has_its_counts_and_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "hello.toml"
    file.write_text(PARTITION + "time_limit_us = 1\n")
    boot = powervisor.boot(file)
    assert boot.partitions.loc["first", "outcome"] == "stopped"
    assert boot.error is not None
    assert boot.error.status == 1
    assert "first" in str(boot.error)


def test_a_boot_that_does_not_begin_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PowerVisorError, match=r"none\.toml"):
        powervisor.boot(tmp_path / "none.toml")


def test_every_name_is_explained() -> None:
    undocumented = [name for name in powervisor.__all__ if not getattr(powervisor, name).__doc__]
    assert undocumented == []
