"""Experiments on a hypervisor for POWER, and on the machine that counts its cycles.

The package calls the ``powervisor`` command, which the same wheel carries with its images, machines and experiments:

>>> import powervisor
>>> figures = powervisor.run("null-hypercall", variants=["full-translated"], set={"scoreboard": 0})
>>> figures.loc[figures.metric == "cycles_per_hypercall", ["variant", "value", "low", "high"]]

Cycles are those of the simulated core, at ``clock.core_frequency`` of its machine. Each figure has its unit beside it.
"""

from powervisor.boots import Boot, boot
from powervisor.command import PowerVisorError
from powervisor.experiment import Experiment
from powervisor.machine import Machine
from powervisor.report import Report, calibrate, diff, ledger, measure, run

__all__ = [
    "Boot",
    "Experiment",
    "Machine",
    "PowerVisorError",
    "Report",
    "boot",
    "calibrate",
    "diff",
    "ledger",
    "measure",
    "run",
]
