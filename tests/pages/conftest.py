"""A small finished run for the pages, and a page run without a browser."""

import contextlib
import fcntl
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner import script_runner
from streamlit.testing.v1 import AppTest, local_script_runner

from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from metrics.suites.samples import samples
from tests.engine.engine_scenes import finished
from tests.pages import studio_logs
from tests.pages.reading import give

PROJECT = Path(__file__).resolve().parents[2]
STILL = """() => document.getAnimations().every((each) =>  // but those that scrolling moves, or that never end
  each.timeline !== document.timeline || each.playState !== "running"
    || each.effect.getComputedTiming().endTime === Infinity)"""
HOSTILE = "<img src=x onerror=alert(1)> ![](http://127.0.0.1:9/x.png)"  # a model's name that must stay text
LABELS = ("cat", "dog", "owl")
CASES = 120
Scene = Callable[[Path], Run]  # makes a run in a folder
Look = Callable[[Scene], Run]  # makes the pages look at the workspace of a scene
Went = list[dict[str, Any]]  # where pages wanted to go
Open = Callable[..., AppTest]  # opens a page by its name, with query parameters


def labels_suite() -> Suite:
    """120 cases of three classes; a third is tagged `night`."""
    rows = [
        {
            "case_id": f"c{index}", "question": f"What animal is number {index}?", "label": LABELS[index % 3],
            "tags": ["night"] if index % 3 == 2 else ["day"],
        }
        for index in range(CASES)
    ]  # fmt: skip
    return Suite.from_rows("animals", "classification", rows)


def labels_outputs() -> Outputs:
    """`sharp` is right nine times of ten, `blunt` two times of three, the third model half the time."""
    every = {"sharp": 10, "blunt": 3, HOSTILE: 2}
    outputs, predictions = [], []
    for model, wrong in every.items():
        for index in range(CASES):
            outputs.append({"case_id": f"c{index}", "model": model})
            guess = LABELS[(index + (index % wrong == 0)) % 3]
            predictions.append({"case_id": f"c{index}", "model": model, "label": guess, "score": 0.9})
    return Outputs.from_rows(outputs, predictions)


@pytest.fixture(scope="session", autouse=True)
def quick_app_tests() -> Iterator[None]:
    """AppTest does three things for each run of a page that cost more than the page.

    It reads the metadata of every installed package, collects the garbage of all that is loaded, and asks a thousand
    times a second whether the script has ended.
    """

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
        runner._script_thread.join(timeout)  # type: ignore[union-attr]
        if not runner.script_stopped():
            runner.request_stop()
            raise RuntimeError(f"the page still runs after {timeout} s")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(script_runner, "gc", SimpleNamespace(collect=lambda generation: None))
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(autouse=True)
def no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process that computes samples is started beside a test."""
    monkeypatch.setattr("components.data.workspace_runs.waits_for_sample", lambda: False)


def animals_run(folder: Path) -> Run:
    """A finished run of `classification`."""
    return finished(Workspace(folder), labels_suite(), labels_outputs(), "classification", name="Animals")


@pytest.fixture
def run(look_at: Look) -> Run:
    """The run Animals, in the workspace that the pages look at."""
    return look_at(animals_run)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Scene], Run]:
    """Returns the run that a scene makes in a workspace of its own, the same for all that ask."""
    return cache(lambda scene: scene(tmp_path_factory.mktemp("scene")))


@pytest.fixture
def look_at(made_once: Callable[[Scene], Run], monkeypatch: pytest.MonkeyPatch) -> Look:
    """Lets the pages look at the workspace of a scene, which nobody changes; returns its run."""

    def look(scene: Scene) -> Run:
        run = made_once(scene)
        monkeypatch.setenv("ASSAY_WORKSPACE", str(run.workspace.path))
        return Workspace().run(run.id)

    return look


@pytest.fixture
def look_at_copy(look_at: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Look:
    """Lets the pages look at a copy of the workspace of a scene, which the test may change; returns its run."""

    def look(scene: Scene) -> Run:
        run = look_at(scene)
        shutil.copytree(run.workspace.path, tmp_path / "copy")
        monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "copy"))
        return Workspace().run(run.id)

    return look


@pytest.fixture
def open_page() -> Open:
    """Opens a page by name with query parameters, as a deep link to a fresh server does: without app.py.

    The page raises nothing.
    """

    def opened(name: str, **params: Any) -> AppTest:
        page = AppTest.from_file(str(PROJECT / "pages" / f"{name}.py"), default_timeout=300)
        for key, value in params.items():
            page.query_params[key] = value
        page.run()
        assert not page.exception, (name, params, page.exception)
        return page

    return opened


@pytest.fixture
def went(monkeypatch: pytest.MonkeyPatch) -> Went:
    """Where pages wanted to go: the name of the page, and the parameters given."""
    gone: Went = []

    def go(name: str, /, **values: Any) -> None:
        gone.append({"page": name} | {key: value for key, value in values.items() if value is not None})

    monkeypatch.setattr("components.widgets.url.go", go)
    return gone


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that would have been started, each in a process of its own."""
    runs: list[Run] = []
    monkeypatch.setattr("metrics.engine.start", runs.append)
    return runs


@pytest.fixture(scope="session")
def uploaded_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Path, dict[str, Any]]]:
    """Returns a workspace where files were given to the page Evaluate one by one, and the parameters of its address."""

    @cache
    def uploaded(*files: tuple[str, str]) -> tuple[Path, dict[str, Any]]:
        folder = tmp_path_factory.mktemp("uploaded")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ASSAY_WORKSPACE", str(folder))
            page = AppTest.from_file(str(PROJECT / "pages" / "evaluate.py"), default_timeout=300).run()
            for name, content in files:
                give(page, 0, name, content)
        return folder, dict(page.query_params.items())

    return uploaded


@pytest.fixture
def evaluate_with(uploaded_once: Callable[..., tuple[Path, dict[str, Any]]], workspace: Path, open_page: Open) -> Open:
    """Opens the page Evaluate on files that were uploaded before, with further parameters of its address."""

    def opened(*files: tuple[str, str], **params: Any) -> AppTest:
        folder, address = uploaded_once(*files)
        shutil.copytree(folder, workspace, dirs_exist_ok=True)
        return open_page("evaluate", **address | params)

    return opened


def place_samples(folder: Path) -> Path:
    """Make a small finished run in the place of each sample, so that a studio computes none; return the folder."""
    for sample in samples():
        finished(Workspace(folder), labels_suite(), labels_outputs(), "classification", sample=sample.id)
    return folder


@contextlib.contextmanager
def serving(
    folder: Path, samples: bool = False, script: str = "app.py", options: Sequence[str] = (), token: str = ""
) -> Iterator[str]:
    """The address of a studio on a workspace, while it runs; it computes no samples, and wants a token if given one."""
    with (folder / "samples.lock").open("w") as lock:
        if not samples:  # as if another process were at it: the cores are for the browser
            fcntl.flock(lock, fcntl.LOCK_SH)  # several of a session may share a folder
        with _serving(folder, script, options, token) as address:
            yield address


@contextlib.contextmanager
def _serving(folder: Path, script: str, options: Sequence[str], token: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    access = {"ASSAY_TOKEN": token} if token else {"ASSAY_NO_TOKEN": "1"}
    log = studio_logs.new()
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port), *options],
            cwd=PROJECT, env=os.environ | {"ASSAY_WORKSPACE": str(folder), "PYTHONFAULTHANDLER": "1"} | access,
            stdout=subprocess.DEVNULL, stderr=errors,
        )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        while process.poll() is None:  # on a busy machine it takes its time
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=9):
                break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(120)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # its log says where each thread stands
            process.wait()
            pytest.fail(f"The studio does not stop:\n{log.read_text(errors='replace')}")


def settle(page: Page) -> None:
    """Wait until the page's script has ended and nothing moves: what is drawn again, or moves away, hears no click.

    Wait for what the script draws last before: between two scripts the page is idle as well.
    """
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_visible(timeout=120_000)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)  # stands for a widget whose code is still being loaded
    page.wait_for_function(STILL, polling=50)


def start_button(page: Page, disabled: bool = False) -> Locator:
    """Return the button that starts a run, in the state asked for.

    While a script runs, the button of the script before it may stand beside it, in another state or in the same.
    """
    return page.get_by_role("button", name="Start", disabled=disabled).last


def choose(page: Page, box: str, option: str) -> None:
    """Choose an option of a select box."""
    settle(page)
    field, entry = (
        page.get_by_role("combobox", name=box, exact=True),
        page.get_by_role("option").filter(has_text=option),
    )
    field.click()
    settle(page)
    if field.get_attribute("aria-expanded") != "true":  # a script that began meanwhile has closed the list
        field.click()
    entry.click()


def back(page: Page, address: str) -> None:
    """Go back to an address."""
    settle(page)
    page.go_back()
    page.wait_for_url(address)


def press_until(page: Page, key: str, arrived: Callable[[float], None]) -> None:
    """Press a key until what it brings has `arrived`, which expects it within so many milliseconds.

    A key that comes before the buttons listen is lost.
    """
    settle(page)
    for _ in range(5):
        page.keyboard.press(key)
        for wait in (20_000, 1_000):  # then once more, as the page is when it stands still
            with contextlib.suppress(AssertionError):
                return arrived(wait)
            settle(page)
    pytest.fail(f"{key} brings nothing")


def press(page: Page, key: str, text: str) -> None:
    """Press a key that brings up a text."""
    press_until(page, key, lambda wait: expect(page.get_by_text(text)).to_be_visible(timeout=wait))


def tag_object(page: Page, tag: str) -> None:
    """Give the object of the page Case a tag."""
    settle(page)
    page.get_by_test_id("stPopover").get_by_role("button").filter(has_text="Tags").click()
    box = page.get_by_role("combobox", name="Tags of this object")
    box.fill(tag)
    box.press("Enter")
    expect(page.get_by_role("dialog", name=tag)).to_be_visible()
    box.press("Escape")  # closes the list of tags, then what holds it
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name=tag)).to_be_visible()


def exported_coco(page: Page) -> Any:
    """Return what the gallery exports of all shown as COCO."""
    settle(page)
    page.get_by_role("button", name="Export all shown").click()
    with page.expect_download() as started:
        page.get_by_role("button", name="COCO").click()
    return json.loads(started.value.path().read_text())


def click_chart(page: Page, x: float, y: float) -> None:
    """Click the first chart at a place of the window, once it neither moves nor is drawn again."""
    settle(page)
    chart = page.locator(".js-plotly-plot").first
    box = chart.bounding_box()
    assert box is not None
    chart.click(position={"x": x - box["x"], "y": y - box["y"]})


@pytest.fixture(autouse=True)
def no_traceback() -> Iterator[None]:
    """Fail a test during which a studio wrote a traceback, which the page hides."""
    yield
    said = studio_logs.unread()
    assert "Traceback" not in said, said


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of the size that every view has to fit."""
    yield from own_page(browser)


def own_page(browser: Browser) -> Iterator[Page]:
    """Yield a page of that size whose cookies are its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(120_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def picture(request: pytest.FixtureRequest, page: Page) -> Callable[[str], None]:
    """Keeps a numbered picture of the page, once it rests, in the folder of `--pictures`; without the option, nothing.

    Of a walk's stations: `rag/03-cancelled.png` is the third of `test_rag`.
    """
    folder = request.config.getoption("--pictures")
    numbers = itertools.count(1)

    def keep(name: str) -> None:
        if folder:
            settle(page)
            page.mouse.move(0, 0)  # off everything that shows a tip
            walk = request.node.name.removeprefix("test_")
            page.screenshot(path=Path(folder) / walk / f"{next(numbers):02}-{name}.png", animations="disabled")

    return keep
