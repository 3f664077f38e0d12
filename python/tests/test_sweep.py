"""Sweeps on a cluster of processes of this machine."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from powervisor import PowerVisorError
from powervisor.sweep import Plan, cluster, results, sensitivity, sweep

Call = Callable[..., subprocess.CompletedProcess[str]]

GRID = """
name = "grid"
experiments = ["null-hypercall"]
variants = { null-hypercall = ["immediate-translated", "immediate-real"] }
[grid]
timing.special.interrupt_and_return = [179, 209]
scoreboard = [0, 40]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "grid.toml").write_text(GRID)
    return Plan.read("grid.toml")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the grid with two workers."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "grid.toml").write_text(GRID)
    sweep(folder / "grid.toml", folder / "out", workers=2)
    return folder / "out"


def test_a_value_of_the_grid_changes_what_it_should(plan: Plan, whole: Path) -> None:
    table = results(whole)
    assert set(table["key"]) == {run.key for run in plan.runs}
    assert len(plan.runs) == 8
    cycles = table[table["metric"] == "cycles_per_hypercall"].set_index(
        ["variant", "timing.special.interrupt_and_return", "timing.special.scoreboard"]
    )["value"]
    assert cycles["immediate-translated", 209, 40] - cycles["immediate-translated", 179, 40] == pytest.approx(30, abs=1)


def test_a_sweep_that_was_cut_off_goes_on_and_runs_nothing_twice(
    plan: Plan, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By one worker, which finds the same as two.
    Path("cut/runs").mkdir(parents=True)
    for run in plan.runs[:5]:
        shutil.copy(whole / f"runs/{run.key}.parquet", "cut/runs")
    handed_in = []
    run_all = cluster._run_all
    monkeypatch.setattr(cluster, "_run_all", lambda name, runs, *rest: handed_in.extend(runs) or run_all(name, runs, *rest))
    for expected in (plan.runs[5:], []):
        handed_in.clear()
        sweep(plan, "cut", workers=1)
        assert handed_in == expected
        assert Path("cut/results.parquet").read_bytes() == (whole / "results.parquet").read_bytes()


def test_a_worker_that_dies_loses_one_run(plan: Plan, whole: Path) -> None:
    killed = []

    def kill_one(client: Any) -> None:  # noqa: ANN401 - distributed has no types
        def later() -> None:
            # As soon as somebody is at work.
            busy: list[str] = []
            while not busy:
                busy = [worker for worker, runs in client.processing().items() if runs]
            pids = client.run(os.getpid, workers=busy[:1])
            killed.extend(pids.values())
            os.kill(killed[0], signal.SIGKILL)

        threading.Thread(target=later).start()

    table = sweep(plan, "killed", workers=2, watch=kill_one)
    assert killed
    assert table.equals(results(whole))


def test_each_guess_at_both_ends_says_which_one_moves_a_figure(tmp_path: Path) -> None:
    machine = Plan.read("sensitivity").runs
    guesses = {run.guess for run in machine if run.guess}
    assert len(guesses) > 30
    (tmp_path / "each.toml").write_text(GRID.split("[grid]", maxsplit=1)[0] + 'guesses = "each"')
    plan = Plan.read("each.toml")
    # Two that matter to an interrupt, and two that do not.
    chosen = {"interrupt_and_return", "interrupt", "walkers", "chip_latency"}
    runs = [run for run in plan.runs if not run.guess or run.guess.rsplit(".", 1)[1] in chosen]
    table = sensitivity(sweep(Plan(plan.name, plan.text, runs), "each"))
    cycles = table[(table["metric"] == "cycles_per_hypercall") & (table["variant"] == "immediate-translated")]
    assert cycles["guess"].to_list()[0] == "timing.special.interrupt_and_return"
    largest = cycles.iloc[0]
    assert largest["low"] < largest["value"] < largest["high"]
    assert largest["high"] - largest["low"] == pytest.approx(259 - 179, rel=0.05)
    assert not set(cycles["guess"]) & {"timing.translation.walkers", "timing.memory.chip_latency"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("experimnts = ['compute']", "sweep.toml: unknown key `experimnts`; did you mean `experiments`?"),
        ("name = 'x'", "the key `experiments` is missing"),
        ("experiments = []", "`experiments` is empty"),
        ("experiments = ['compute']\n[grid]", "`grid` is empty"),
        ("experiments = ['compute']\n[grid]\nscoreboard = []", "`grid.scoreboard` is []; it must be a list of numbers"),
        ("experiments = ['compute']\n[grid]\nscoreboard = ['a']", "it must be a list of numbers"),
        ("experiments = ['compute']\n[grid]\nscorebord = [1]", "did you mean `timing.special.scoreboard`?"),
        ("experiments = ['compute']\n[grid]\nscoreboard = [-1]", "out of range"),
        ("experiments = ['compute']\nseeds = [-1]", "the seed -1 is none"),
        ("experiments = ['compute']\nguesses = 'all'", "it must be one of values, ends, each"),
        ("experiments = ['compute']\nguesses = 'each'\n[grid]\nscoreboard = [1]", "leave out `grid`"),
        ("experiments = ['compte']", "did you mean `compute`?"),
        ("experiments = ['compute']\nvariants = { compute = ['x'] }", "compute has no variant `x`"),
        ("experiments = ['compute']\nvariants = { x = [] }", "variants are of `x`"),
        ("experiments = ", "it must be valid TOML"),
    ],
)
def test_a_sweep_file_that_is_wrong_is_refused_in_one_line(text: str, expected: str, tmp_path: Path, call: Call) -> None:
    (tmp_path / "sweep.toml").write_text(text)
    done = call("sweep", "sweep.toml")
    assert done.returncode == 2
    assert expected in done.stderr
    assert re.fullmatch(r"powervisor: .*\n", done.stderr)
    assert not Path("sweep.results").exists()


def test_a_scheduler_that_is_not_there_is_said_in_one_line(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    with pytest.raises(PowerVisorError, match=r"tcp://127\.0\.0\.1:9 does not answer"):
        sweep(plan, "out", scheduler="tcp://127.0.0.1:9")
    assert not Path("out").exists()


def test_a_cluster_of_others_gives_the_same_results(plan: Plan, whole: Path) -> None:
    with LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", processes=True, threads_per_worker=1) as others:
        address = others.scheduler_address
        with pytest.raises(PowerVisorError, match="has no workers"):
            sweep(plan, "out", scheduler=address)
        others.scale(1)
        with Client(address) as client:
            client.wait_for_workers(1)
        runs = plan.runs[:2]
        table = sweep(Plan(plan.name, plan.text, runs), "out", scheduler=address)
    expected = results(whole)
    expected = expected[expected["key"].isin([run.key for run in runs])]
    assert table.equals(expected[table.columns])


def test_two_sweeps_do_not_fill_one_folder(plan: Plan) -> None:
    Path("out").mkdir()
    with Path("out/lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(PowerVisorError, match="another sweep writes into it"):
            sweep(plan, "out")


def test_another_sweep_does_not_take_a_folder_and_a_changed_one_says_what_it_leaves_out(
    plan: Plan, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(whole, "out")
    with pytest.raises(PowerVisorError, match="it has the runs of the sweep `grid`, not of `other`"):
        sweep(Plan("other", plan.text, plan.runs), "out")
    assert Path("out/results.parquet").read_bytes() == (whole / "results.parquet").read_bytes()
    sweep(plan, "out")
    assert not capsys.readouterr().err
    table = sweep(Plan(plan.name, plan.text, plan.runs[:6]), "out")
    assert set(table["key"]) == {run.key for run in plan.runs[:6]}
    assert "2 runs are of an earlier form of this sweep" in capsys.readouterr().err


def test_a_full_disk_ends_a_sweep_in_one_line_and_keeps_what_was_found(
    plan: Plan, whole: Path, call: Call, tmp_path: Path
) -> None:
    shutil.copytree(whole, tmp_path / "out")
    last = plan.runs[-1].key
    Path(f"out/runs/{last}.parquet").unlink()
    # What is written to it finds no space.
    Path(f"out/runs/{last}.part").symlink_to("/dev/full")
    done = call("sweep", "grid.toml", "--out", "out")
    assert done.returncode == 2
    complaint = r"powervisor: out: cannot be written: No space left on device; what was found before is kept, .*goes on\n\Z"
    assert re.search(f"^{complaint}", done.stderr, re.MULTILINE)
    assert len(list(Path("out/runs").iterdir())) == 7


def test_what_is_no_sweep_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "results.parquet").write_text("no")
    with pytest.raises(PowerVisorError, match="it must be what a sweep wrote"):
        results(tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[grid]\nscoreboard = [0]\n"timing.special.scoreboard" = [5]', "`timing.special.scoreboard` is there twice"),
        ("name = '../grid'", "it must be a name, without a folder"),
        ("seeds = [18446744073709551616]", "below 2^64"),
        ("variants = { null = ['a'] }", "the experiments are `null-hypercall`"),
        ("", "`null-hypercall` and `mine/null-hypercall.toml` are both called null-hypercall"),
    ],
)
def test_what_would_lose_runs_is_refused(text: str, complaint: str) -> None:
    # A table is behind the keys.
    experiments = '"null-hypercall"' if text else '"null-hypercall", "mine/null-hypercall.toml"'
    Path("bad.toml").write_text(f"experiments = [{experiments}]\n{text}")
    with pytest.raises(PowerVisorError, match=re.escape(complaint)):
        Plan.read("bad.toml")


def test_a_damaged_result_is_run_again(plan: Plan, whole: Path) -> None:
    shutil.copytree(whole, "damaged")
    damaged = Path(f"damaged/runs/{plan.runs[2].key}.parquet")
    good = damaged.read_bytes()
    for bad in (b"", good[:100]):
        damaged.write_bytes(bad)
        sweep(plan, "damaged", workers=1)
        assert damaged.read_bytes() == good


def test_a_folder_of_somebody_else_is_left_alone(plan: Plan) -> None:
    Path("theirs").mkdir()
    Path("theirs/results.parquet").write_text("theirs")
    with pytest.raises(PowerVisorError, match="no sweep wrote it"):
        sweep(plan, "theirs")
    assert Path("theirs/results.parquet").read_text() == "theirs"


def test_a_script_without_a_guard_is_told_so() -> None:
    Path("grid.toml").write_text(GRID)
    Path("script.py").write_text('from powervisor import sweep\nprint(len(sweep.sweep("grid.toml", "out", workers=1)))\n')
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "a script that calls `sweep` must do so under" in done.stderr


@pytest.mark.parametrize("after", [0.5, 2.0, 4.0])
def test_control_c_at_a_terminal_says_little(after: float) -> None:
    Path("grid.toml").write_text("seeds = [1, 2, 3, 4, 5, 6, 7, 8]" + GRID)
    command = [sys.executable, "-m", "powervisor", "sweep", "grid.toml", "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as child:
        time.sleep(after)
        # As a terminal does: to all of its processes.
        os.killpg(child.pid, signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    assert child.returncode in {0, 130, -signal.SIGINT}
    assert "Traceback" not in errors or child.returncode == -signal.SIGINT, errors


def test_an_output_that_takes_nothing_is_said() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "powervisor", "sweep", "--help"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
