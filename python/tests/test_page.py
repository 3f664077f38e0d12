"""Pages of results, in headless Chromium."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

import powervisor
from powervisor.sweep import Plan, sweep

Call = Callable[..., subprocess.CompletedProcess[str]]

#: What a plot draws of its data: bars, points and lines, and parts of a flame graph.
MARKS = ".bars .point path, .scatterlayer .points path, .scatterlayer .js-line, g.slice path"
GRID = """
experiments = ["null-hypercall"]
variants = { null-hypercall = ["immediate-translated"] }
"""
SHORT = {"variants": ["immediate-translated", "full-translated"]}


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page with everything that a page can have."""
    folder = tmp_path_factory.mktemp("page")
    powervisor.measure("null-hypercall", **SHORT).save(folder / "before.json")
    powervisor.measure("null-hypercall", set={"interrupt_and_return": 179}, guesses=False, **SHORT).save(folder / "after.json")
    calibration = powervisor.command.call(["calibrate", "--values-only", "--format", "json"])
    (folder / "calibration.json").write_text(calibration)
    (folder / "grid.toml").write_text(GRID + "[grid]\ninterrupt_and_return = [179, 209, 259]")
    sweep(folder / "grid.toml", folder / "grid")
    (folder / "each.toml").write_text(GRID + 'guesses = "each"')
    plan = Plan.read(folder / "each.toml")
    runs = [run for run in plan.runs if not run.guess or "interrupt" in run.guess]
    sweep(Plan(plan.name, plan.text, runs), folder / "each")
    names = ["before.json", "after.json", "calibration.json", "grid", "each"]
    done = subprocess.run(
        [powervisor.command.command(), "report", *names, "-o", "page.html"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "page.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Debian's Chromium."""
    program = shutil.which("chromium")
    assert program, "chromium is not there; install Debian's package chromium"
    with sync_playwright() as playwright:
        # Containers run as root, for whom Chromium has no sandbox.
        yield playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])


def drawn(page: Page) -> list[int]:
    """Wait until all plots are drawn, and count what each shows."""
    page.wait_for_function("[...document.querySelectorAll('.plot')].every((plot) => plot.dataset.drawn)", timeout=60_000)
    count = f"[...document.querySelectorAll('.plot')].map((plot) => plot.querySelectorAll({MARKS!r}).length)"
    counts: list[int] = page.evaluate(count)
    return counts


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 380])
def test_every_plot_is_drawn_without_an_error_and_without_a_network(
    page_file: Path, browser: Browser, scheme: str, width: int
) -> None:
    wrong: list[str] = []
    asked: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            wrong.append(message.text)

    def asks(request: Request) -> None:
        asked.append(request.url)

    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)  # type: ignore[arg-type]
    page = context.new_page()
    page.on("console", heard)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", asks)
    page.goto(page_file.as_uri())
    titles = page.locator("h2").all_inner_texts()
    for expected in (
        "before: figures",
        "before: causes",
        "before: flame graph",
        "before to after: differences",
        "calibration: the model and what is published",
        "grid: by timing.special.interrupt_and_return",
        "each: which guess matters",
    ):
        assert expected in titles
    assert all(drawn(page)), dict(zip(titles, drawn(page), strict=True))
    # Each choice of each plot, too.
    for number, select in enumerate(page.locator("select").all()):
        for option in select.locator("option").all_inner_texts()[-2:]:
            select.select_option(option)
            assert all(drawn(page)), (number, option)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(22, 24, 28)")
    ink = page.evaluate("getComputedStyle(document.querySelector('.xtitle, .xtick text')).fill")
    assert ink == ("rgb(28, 28, 28)" if scheme == "light" else "rgb(230, 230, 230)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert wrong == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()


def test_a_page_whose_script_fails_is_noticed(page_file: Path, browser: Browser, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text(page_file.read_text().replace("Plotly.react(place", "Plotly.reacted(place"))
    wrong: list[str] = []
    page = browser.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(broken.as_uri())
    page.wait_for_timeout(500)
    assert wrong
    assert not page.locator(".plot[data-drawn]").count()
    page.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "not a report; it must be"),
        ("[]", "not a report; it must be"),
        (json.dumps({"schema": 2}), "a report of form 2; this package reads form 1"),
        (json.dumps({"schema": 1}), "neither figures nor a ledger; it must be"),
        (json.dumps({"schema": 1, "experiment": "e", "rows": [], "ledger": {}}), "neither figures nor a ledger"),
        (None, "cannot be read: No such file or directory; it must be"),
    ],
)
def test_what_is_no_result_is_refused_in_one_line(text: str | None, expected: str, tmp_path: Path, call: Call) -> None:
    if text is not None:
        (tmp_path / "results.json").write_text(text)
    done = call("report", "results.json", "-o", "page.html")
    assert done.returncode == 2
    assert re.fullmatch(rf"powervisor: results\.json: .*{re.escape(expected)}.*\n", done.stderr)
    assert not Path("page.html").exists()


def test_what_a_boot_says_is_a_page_too(call: Call) -> None:
    call("new", "payload", "mine")
    make = shutil.which("make")
    assert make
    subprocess.run([make, "-C", "mine"], check=True, capture_output=True)
    done = call("boot", "--payload", "mine/mine.elf", "--timing", "--out", "out")
    assert done.returncode == 0, done.stderr
    done = call("report", "out/boot.json", "-o", "page.html")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("more", ["seeds = [1, 2]", 'guesses = "ends"', "[grid]\nlwsync = [14, 15]"])
def test_a_sweep_without_a_curve_has_bars(call: Call, more: str) -> None:
    Path("plain.toml").write_text(f"{GRID}{more}")
    sweep("plain.toml", "plain", workers=1)
    done = call("report", "plain", "-o", "page.html")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_page_is_not_written_over_its_results(call: Call) -> None:
    powervisor.measure("null-hypercall", variants=["full-real"], guesses=False).save("run.json")
    before = Path("run.json").read_bytes()
    done = call("report", "run.json", "-o", "run.json")
    assert done.returncode == 2
    assert "name another one" in done.stderr
    assert Path("run.json").read_bytes() == before
    damaged = json.loads(before)
    damaged["rows"][0]["value"] = "much"
    Path("damaged.json").write_text(json.dumps(damaged))
    done = call("report", "damaged.json", "-o", "page.html")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "damaged.json: its figures are damaged" in done.stderr
