"""Verdicts in words that nobody but their evaluator knows are marked ✓ and ✗, on the page and in the report."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from metrics import engine
from metrics.core import registry
from metrics.core.suite import Outputs, Suite
from metrics.presentation.verdict_rows import VerdictGroup
from metrics.reports import render
from metrics.reports.build import build
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import one_thread
from tests.judge.server import JudgeServer, Request
from tests.pages.conftest import Open


@pytest.fixture
def hedging_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The registry finds the evaluator of tests/evaluators/hedging.py too."""
    modules = {**registry._modules(), "hedging": "tests.evaluators.hedging"}
    monkeypatch.setattr(registry, "_modules", lambda: modules)
    registry._all.cache_clear()
    yield
    registry._all.cache_clear()


@pytest.fixture
def run(hedging_known: None, workspace: Path) -> Run:
    suite = Suite.from_rows("boats", "text", [{"case_id": "c", "question": "When does the boat leave?"}])
    outputs = Outputs.from_rows([{"case_id": "c", "model": "m", "answer": "Perhaps at nine; It leaves daily"}])
    with JudgeServer() as server:
        server.say("hedging", _by_word)
        settings = {"model": "scripted", "base_url": server.url}
        made = engine.create(Workspace(workspace), suite, outputs, ("hedging",), resources={"judge": settings})
        return engine.execute(made, one_thread)


def _by_word(request: Request) -> list[dict[str, str]]:
    return [
        {"style": "hedged", "reason": "perhaps"} if "Perhaps" in line else {"style": "plain"}
        for line in request.data["SENTENCES"].splitlines()
    ]


def test_on_the_page(run: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[VerdictGroup] = []

    def draw(groups: Sequence[VerdictGroup], *_: Any) -> None:
        drawn.extend(groups)

    monkeypatch.setattr("components.viewers.text_case._draw_list", draw)
    open_page("case", run=run.id, case="c", evaluator="hedging", metric="plain")
    assert [(group.title, [(row.glyph, row.label) for row in group.rows]) for group in drawn] == [
        ("Sentences", [("✗", "hedged"), ("✓", "plain")])
    ]


def test_in_the_report(run: Run) -> None:
    (case,) = build(run).worst
    assert case.evidence == (
        ("", "Sentences: 1 hedged (“Perhaps at nine”), 1 plain."),
        ("✗", "Perhaps at nine · hedged · perhaps"),
        ("✓", "It leaves daily · plain"),
    )
    html = render(run, "html").decode()
    assert "✗ Perhaps at nine · hedged · perhaps" in html
