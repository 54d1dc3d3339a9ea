"""One page of a run in a process of its own: processor seconds of the first visit and of a later one, memory gained.

    python -m tests.benchmarks.page_visits WORKSPACE RUN VISITS

RUN is the id of a run or the address of a board, VISITS a name in VISITS. Printed are the seconds of the first visit
(imports included), of the one after, and how far the process grew above what it held before the first, in bytes. Pages
are run by streamlit's AppTest.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil

ROOT = Path(__file__).parents[2]
REPORTS = ("pdf", "html")
EVERY = 0.02  # seconds between looks at the memory
VISITS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {  # page (or form of report), two addresses of it
    "leaderboard": ("leaderboard", {}, {"minor": "1"}),
    "cases": ("cases", {"evaluator": "rouge", "metric": "rougeL", "model": "model 0"}, {"page": "3"}),
    "cases found by a word": ("cases", {"evaluator": "bleu", "search": "claim"}, {"page": "2"}),
    "Compare": ("compare", {"a": "model 0", "b": "model 1"}, {"key": "rouge/rougeL", "kind": "losses"}),
    "slices": ("slices", {"model": "model 0", "key": "rouge/rougeL"}, {"feature": "answer_length"}),
    "problems": ("problems", {}, {"list": "metrics"}), "insights": ("problems", {"view": "insights"}, {}),
    "report": ("report", {}, {}), "PDF report": ("pdf", {}, {}), "HTML report": ("html", {}, {}),
}  # fmt: skip


class Visits(NamedTuple):
    """Processor seconds of the first visit and of the next, and the bytes that the process grew by at most."""

    first: float
    later: float
    grown: float


def visits(workspace: Path, run: str, name: str) -> Visits:
    """Return what two visits take, measured in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.page_visits", str(workspace), run, name]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return Visits(*map(float, found.stdout.split()[-3:]))


def main(workspace: str, run: str, name: str) -> None:
    os.environ["ASSAY_WORKSPACE"] = workspace
    page, address, later = VISITS[name]
    process, done = psutil.Process(), threading.Event()
    before, most = process.memory_info().rss, [0]

    def watch() -> None:
        while not done.wait(EVERY):
            most[0] = max(most[0], process.memory_info().rss)

    threading.Thread(target=watch, daemon=True).start()
    visit = _report(run, page) if page in REPORTS else _page(run, page)
    seconds = []
    for one in (address, address | later):
        begun = time.process_time()
        visit(one)
        seconds.append(time.process_time() - begun)
    done.set()
    print(*seconds, most[0] - before)


def _page(run: str, page: str) -> Callable[[dict[str, str]], object]:
    from streamlit.testing.v1 import AppTest

    from components.data import workspace_runs

    workspace_runs.waits_for_sample = lambda: False  # nothing else runs meanwhile
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=600)

    def visit(address: dict[str, str]) -> None:
        for name, value in {"run": run, **address}.items():
            app.query_params[name] = value
        app.run()
        if app.exception:
            raise RuntimeError(f"{page}: {app.exception[0].message}")

    return visit


def _report(run: str, form: str) -> Callable[[dict[str, str]], object]:
    from metrics.analysis import open_run
    from metrics.reports import render
    from metrics.store import Workspace

    return lambda _: render(open_run(Workspace(), run), form)


if __name__ == "__main__":
    main(*sys.argv[1:])
