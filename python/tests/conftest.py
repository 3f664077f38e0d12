"""What tests share. They test the installed wheel, in folders of their own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from powervisor.command import command


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder: everything that is needed comes with the wheel."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POWERVISOR_IMAGES", raising=False)


@pytest.fixture
def call() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Call the installed command as a user does."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([command(), *arguments], capture_output=True, text=True, timeout=300, check=False)

    return call
