"""Sweeps: experiments over a grid of values, seeds and variants, on the cores of this machine or on a Dask cluster.

A sweep file says what to run (``plan``), ``cluster`` runs it, and ``store`` keeps what was found, a Parquet file a run. What
has been run is not run again, so that a sweep that was cut off goes on. ``sensitivity`` says which guess moves which figure.
"""

from powervisor.sweep.cluster import sweep
from powervisor.sweep.plan import Plan, Run
from powervisor.sweep.sensitivity import sensitivity
from powervisor.sweep.store import results

__all__ = ["Plan", "Run", "results", "sensitivity", "sweep"]
