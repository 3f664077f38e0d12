"""Runs a plan on the cores of this machine, or on a Dask cluster."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import sys
from contextlib import ExitStack
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
from tqdm import tqdm

from powervisor.command import PowerVisorError
from powervisor.sweep.fingerprint import fingerprint
from powervisor.sweep.plan import Plan, Run
from powervisor.sweep.store import Store, results
from powervisor.sweep.work import execute

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

#: Seconds that a scheduler may take to answer.
PATIENCE = 10
#: Seconds for which a process that was there may be silent.
SILENCE = 600


def sweep(
    plan: Plan | str | Path,
    folder: str | Path,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    watch: Callable[[Any], None] | None = None,
) -> pd.DataFrame:
    """Run what is in the plan and not yet in the folder, and return the results of all its runs, see ``results``.

    Run on ``workers`` processes of this machine, as many as it has cores if not given, or on the Dask cluster whose
    ``scheduler`` has this address. ``watch`` gets the cluster's client when all runs are handed in. A worker that dies loses
    the run that it was at, which another one runs again. Raise PowerVisorError when all other runs are done if some failed.
    """
    if multiprocessing.parent_process() is not None:
        raise PowerVisorError('a worker of a sweep began a sweep; call it under `if __name__ == "__main__":`', 1)
    plan = plan if isinstance(plan, Plan) else Plan.read(plan)
    with Store(Path(folder), plan.name) as store:
        missing = [run for run in tqdm(plan.runs, "look", delay=2, leave=False) if not store.has(run.key)]
        try:
            failed = _run_all(plan.name, missing, store, scheduler, workers, watch) if missing else []
        finally:
            # Of a sweep that is cut off, what it has.
            store.write_all(plan)
    if failed:
        run, why = failed[0]
        what = f"{run.experiment}, {run.variant}, {run.settings}"
        raise PowerVisorError(f"{len(failed)} of {len(plan.runs)} runs failed; the first, {what}: {why}", 1)
    return results(folder)


def _run_all(  # noqa: PLR0913, PLR0917 - what sweep was given
    name: str,
    runs: list[Run],
    store: Store,
    scheduler: str | None,
    workers: int | None,
    watch: Callable[[Any], None] | None,
) -> list[tuple[Run, str]]:
    """Run these, store what each finds as it comes, and return those that failed, each with why."""
    # What a dead worker makes the library log is no news: its run is run again.
    dask.config.set({"logging.distributed": "critical"})
    for library in ("tornado", "asyncio"):
        logging.getLogger(library).setLevel(logging.CRITICAL)
    # Nor is a machine that has much else to do a dead one.
    dask.config.set({f"distributed.comm.timeouts.{what}": f"{SILENCE}s" for what in ("connect", "tcp")})
    dask.config.set({"distributed.scheduler.worker-ttl": f"{SILENCE}s"})
    from distributed import as_completed

    with ExitStack() as stack:
        client = _client(stack, scheduler, min(workers or dask.system.CPU_COUNT, len(runs)))
        of_future = {client.submit(execute, run, fingerprint(), key=f"run-{run.key}"): run for run in runs}
        if watch is not None:
            watch(client)
        # A terminal sees it move; a log gets a line now and then.
        interval = 0.5 if sys.stderr.isatty() else 30
        done = tqdm(as_completed(of_future), name, len(runs), mininterval=interval, unit="run")
        failed = []
        for future in done:
            run = of_future.pop(future)
            if future.status == "finished":
                store.write(run.key, future.result())
            elif future.status != "error":
                text = f"the scheduler was lost with {len(of_future) + 1} runs to do; run the sweep again, it goes on"
                raise PowerVisorError(text, 1)
            else:
                failed.append((run, str(future.exception()).splitlines()[0]))
            # The scheduler forgets what nobody holds.
            future.release()
    return failed


def _client(stack: ExitStack, scheduler: str | None, workers: int) -> Any:  # noqa: ANN401 - distributed has no types
    """Connect to the scheduler, or to a cluster of our own, until the stack is left."""
    from distributed import Client, LocalCluster

    if scheduler is None:
        # Ctrl-C at a terminal reaches all processes: this one sees to the others, which do not hear it.
        # Whatever starts the tracker lets them in again, so it is started first.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                silence_logs="CRITICAL",
            )
        except RuntimeError as error:
            why = 'a script that calls `sweep` must do so under `if __name__ == "__main__":`, since each worker reads it again'
            raise PowerVisorError(f"the workers of the sweep did not start ({error}); {why}", 1) from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return stack.enter_context(Client(stack.enter_context(cluster)))
    try:
        client = stack.enter_context(Client(scheduler, timeout=PATIENCE))
    except Exception as error:  # noqa: BLE001 - an address of any form, and a scheduler of any version, answer in their own way
        why = str(error).splitlines()[0]
        raise PowerVisorError(
            f"--scheduler: {scheduler} does not answer ({why}); `dask scheduler` prints its address"
        ) from None
    if not client.scheduler_info(n_workers=-1)["workers"]:
        raise PowerVisorError(f"--scheduler: {scheduler} has no workers; start `dask worker {scheduler}` on a machine")
    try:
        client.get_versions(check=True)
    except ValueError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.count("|") > 1]
        which = ", ".join(lines[2:]) or "mismatched versions"
        raise PowerVisorError(
            f"--scheduler: its versions are not those here ({which}); install the same on all machines"
        ) from None
    return client
