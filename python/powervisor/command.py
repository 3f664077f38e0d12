"""The ``powervisor`` command: where it is, and calls of it."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The environment variable that names another command than the installed one.
VARIABLE = "POWERVISOR_COMMAND"
#: The form of the command's JSON that this package reads.
SCHEMA = 1


class PowerVisorError(Exception):
    """What the command refused, or what went wrong in its run, in its own words.

    ``status`` is the command's exit status: 1 if the run went wrong, 2 if a file, an argument or the host is not as needed.
    """

    def __init__(self, message: str, status: int = 2) -> None:
        """Keep the message and the exit status."""
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[type[PowerVisorError], tuple[str, int]]:
        """Let it travel between processes whole."""
        return type(self), (str(self), self.status)


@functools.cache
def command() -> Path:
    """Find the command: the one that VARIABLE names, else the one that was installed with this package."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    folders = [*schemes, str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    found = shutil.which("powervisor", path=os.pathsep.join(folders))
    if found is None:
        raise PowerVisorError("the powervisor command is not there; install the wheel again")
    return Path(found)


def _hears_interrupts() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def complete(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Call the command with these arguments, and return how it ended and all that it wrote."""
    # A worker of a sweep does not hear Ctrl-C, and what it calls does.
    hears = None if signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()) else _hears_interrupts
    return subprocess.run([str(command()), *arguments], capture_output=True, text=True, check=False, preexec_fn=hears)


def complaint(done: subprocess.CompletedProcess[str]) -> PowerVisorError:
    """Make an error of a call that failed."""
    if done.returncode < 0:
        return PowerVisorError(f"the command was killed by {signal.Signals(-done.returncode).name}", 1)
    message = done.stderr.strip().removeprefix("powervisor: ")
    return PowerVisorError(message or f"the command ended with {done.returncode}", done.returncode)


def call(arguments: Sequence[str]) -> str:
    """Call the command with these arguments and return what it prints; raise PowerVisorError if it fails."""
    done = complete(arguments)
    if done.returncode != 0:
        raise complaint(done)
    return done.stdout


def call_for_json(arguments: Sequence[str]) -> dict[str, Any]:
    """Call the command for its line of JSON, and read that."""
    answer: dict[str, Any] = json.loads(call([*arguments, "--format", "json"]))
    if answer["schema"] != SCHEMA:
        raise PowerVisorError(f"the command's JSON is of form {answer['schema']}; this package reads form {SCHEMA}")
    return answer


def settings_as_arguments(settings: Mapping[str, float] | None) -> list[str]:
    """Write values of a machine's description as the command takes them."""
    words: list[str] = []
    for key, value in (settings or {}).items():
        if not isinstance(value, Real) or isinstance(value, bool):
            raise PowerVisorError(f"set: `{key}` is {value!r}; it must be a number")
        words += ["--set", f"{key}={float(value):.15g}"]
    return words
