"""``python -m powervisor``: what the powervisor command leaves to this package."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from powervisor.command import PowerVisorError


class _UnwritableError(Exception):
    """Standard output takes nothing."""

    def __init__(self, why: OSError) -> None:
        super().__init__()
        self.why = why


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise _UnwritableError(error) from None


class _Parser(argparse.ArgumentParser):
    """Complains in one line, as the command does."""

    def print_help(self, file: object = None) -> None:  # noqa: ARG002 - it is for standard output alone
        _print(self.format_help())

    def error(self, message: str) -> NoReturn:
        _complain(f"{message}; --help lists what there is")
        sys.exit(2)


def _complain(text: str) -> None:
    sys.stderr.write("powervisor: " + " ".join(text.split()) + "\n")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_positive.__name__ = "whole number above 0"


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="powervisor")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    sweep = commands.add_parser("sweep", help="run experiments over a grid of values, seeds and variants")
    sweep.add_argument("sweep", metavar="SWEEP.toml", help="a sweep file (docs/sweeps.md), or the name of one: sensitivity")
    sweep.add_argument("-o", "--out", metavar="DIR", type=Path, help="the folder for the results [NAME.results]")
    sweep.add_argument("--scheduler", metavar="ADDRESS", help="run on this Dask cluster instead of on this machine")
    sweep.add_argument("--workers", metavar="N", type=_positive, help="run on so many cores of this machine [all]")
    sweep.set_defaults(does=_sweep)
    report = commands.add_parser("report", help="write a page with figures, ledgers, differences and sweeps")
    report.add_argument(
        "results", metavar="RESULTS", nargs="+", type=Path, help="JSON of run, calibrate or boot --timing, or folders of sweeps"
    )
    report.add_argument(
        "-o", "--output", metavar="FILE", type=Path, required=True, help="the page to write, such as report.html"
    )
    report.set_defaults(does=_report)
    return parser


def _sweep(arguments: argparse.Namespace) -> None:
    from powervisor.sweep import Plan, sweep

    plan = Plan.read(arguments.sweep)
    folder = arguments.out or Path(f"{plan.name}.results")
    table = sweep(plan, folder, scheduler=arguments.scheduler, workers=arguments.workers)
    _print(f"{folder}: {table['key'].nunique()} runs, {len(table)} figures\n")


def _report(arguments: argparse.Namespace) -> None:
    from powervisor.page import write

    write(arguments.results, arguments.output)


def main() -> int:
    """Do what the arguments ask for, and return the exit status."""
    try:
        arguments = _parser().parse_args()
        arguments.does(arguments)
    except PowerVisorError as error:
        _complain(str(error))
        return error.status
    except KeyboardInterrupt:
        return 130
    except _UnwritableError as error:
        # So that the end of the program does not try again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error.why, BrokenPipeError):
            # What the shell says of a program that writes where nobody reads.
            return 141
        _complain(f"standard output cannot be written: {error.why.strerror}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
