"""Hashes of what decides a result, beside the configuration: the command, its images, files."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import tomlkit

from powervisor.command import call, call_for_json, command


@functools.cache
def fingerprint() -> str:
    """Hash the command and its images, 32 hexadecimal digits: where they differ, results may."""
    images = Path(call_for_json(["show"])["images"])
    total = hashlib.sha256()
    for path in [command(), *sorted(images.iterdir())]:
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:32]


def hash_of(experiment: str) -> str:
    """Hash an experiment's file, and its payload if that is a file of the user's own."""
    text = call(["show", experiment])
    total = hashlib.sha256(text.encode())
    table = tomlkit.parse(text)
    for key in ("payload", "machine"):
        path = Path(experiment).parent / str(table[key])
        if experiment.endswith(".toml") and path.is_file():
            total.update(path.read_bytes())
    return total.hexdigest()[:32]
