"""Reports of bundled samples: agents, attacks, conversations, poses and segments reach the page and the PDF."""

from html import unescape
from pathlib import Path

import pytest

from metrics import engine
from metrics.reports.build import build
from metrics.reports.renderers.html import html
from metrics.reports.renderers.pdf import pdf
from metrics.store import Workspace
from metrics.suites.samples import Sample, create, samples
from tests.engine.engine_scenes import one_thread

ELSEWHERE = ("classification", "detection", "rag", "rag-judged")  # such runs are reported by other tests
OWN_REPORT = [sample for sample in samples() if sample.id not in ELSEWHERE]


@pytest.mark.parametrize("sample", OWN_REPORT, ids=lambda sample: sample.id)
def test_a_sample_is_reported(sample: Sample, workspace: Path) -> None:
    run = engine.execute(create(Workspace(workspace), sample), one_thread)
    report = build(run)
    page = unescape(html(report).decode())
    assert sample.title in page
    missing = [entry.title for entry in map(run.evaluator, run.evaluators) if entry and entry.title not in page]
    assert not missing
    assert pdf(report).startswith(b"%PDF")
