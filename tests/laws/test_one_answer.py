"""Same answer, every place: what a question answers, PDF, HTML, terminal, Markdown and JSON say alike.

Pages do so in tests/pages/test_same_answers.py.
"""

import io
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from pypdf import PdfReader

from metrics import engine
from metrics.analysis import headline, leaderboard
from metrics.cli.gate_command import print_leaderboard
from metrics.presentation.blocks import Answer, Sentence, Table
from metrics.presentation.question import Question, answers, questions, short_answers
from metrics.reports import render
from metrics.reports.renderers.notebook import run_html, run_text
from metrics.reports.section_names import SECTIONS
from metrics.store import Run, Workspace
from metrics.suites.samples import create, samples
from tests.engine.engine_scenes import one_thread

SAMPLES = ("rag", "agents", "rag-judged")  # text with tags and contexts, thresholds, a judge
PLACES: dict[str, Callable[[Run], str]] = {}
IDS = [one.id for one in questions()]
ZERO_WIDTH = re.compile("[\u200b\u00ad]")


def place(read: Callable[[Run], str]) -> Callable[[Run], str]:
    """Register what a place says about a run."""
    PLACES[read.__name__] = read
    return read


class Texts(HTMLParser):
    """The texts of a page."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.said: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def plain(text: str) -> str:
    """A text without the blanks, line breaks and break opportunities that a place adds."""
    return "".join(ZERO_WIDTH.sub("", text).split())


@place
def pdf(run: Run) -> str:
    return " ".join(page.extract_text() for page in PdfReader(io.BytesIO(render(run, "pdf", SECTIONS))).pages)


@place
def html(run: Run) -> str:
    return "".join(Texts(render(run, "html", SECTIONS).decode()).said)


@place
def report_json(run: Run) -> str:
    return " ".join(_texts(json.loads(render(run, "json", SECTIONS))))


@place
def markdown(run: Run) -> str:
    return unescape(re.sub("<[^>]+>", "", MarkdownIt().enable("table").render(render(run, "md").decode())))


@place
def terminal(run: Run) -> str:
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("metrics.cli.gate_command.say", lambda *lines: said.extend(lines))
        print_leaderboard(run)
    return "\n".join(said)


@place
def notebook(run: Run) -> str:
    assert all(plain(one.text) in plain(run_text(run)) for one in short_answers(run))
    return "".join(Texts(run_html(run)).said)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
    elif isinstance(value, str):
        yield value


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """A bundled sample, evaluated when it is first asked for."""
    known = {one.id: one for one in samples()}
    workspace = Workspace(tmp_path_factory.mktemp("samples"))
    return cache(lambda name: engine.execute(create(workspace, known[name]), one_thread))


@pytest.fixture(scope="module")
def said(sample: Callable[[str], Run]) -> Callable[[str, str], str]:
    """What a place says about a sample, without blanks."""
    return cache(lambda name, where: plain(PLACES[where](sample(name))))


@pytest.mark.parametrize("name", SAMPLES)
def test_every_question_answers_first_in_a_sentence(sample: Callable[[str], Run], name: str) -> None:
    found = list(answers(sample(name)))
    assert [one.title for one in found if not isinstance(one.blocks[0], Sentence)] == []
    assert len(found) >= 5


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_answers_in_short_are_the_same_everywhere(sample, said, name: str, where: str) -> None:  # type: ignore[no-untyped-def]
    text, run = said(name, where), sample(name)
    assert plain(headline(leaderboard(run)).sentence) in text
    assert [one.text for one in short_answers(run) if plain(one.text) not in text] == []


@pytest.mark.parametrize("where", ["pdf", "html", "report_json"])
@pytest.mark.parametrize("name", SAMPLES)
def test_documents_have_every_sentence_number_and_note(sample, said, name: str, where: str) -> None:  # type: ignore[no-untyped-def]
    text, wanted = said(name, where), [part for one in answers(sample(name)) for part in _parts(one)]
    assert len(wanted) > 50
    assert [part for part in wanted if plain(part) not in text] == []


def _parts(answer: Answer) -> Iterator[str]:
    """Every text that a document must show of an answer."""
    yield from (answer.title, answer.question) if answer.title != "What stands out" else (answer.title,)
    yield from answer.notes
    for block in answer.blocks:
        if isinstance(block, Sentence):
            yield from (block.text, block.detail)
        if isinstance(block, Table) and answer.name != "leaderboard":  # which documents draw whole
            yield from (cell for row in block.rows for cell in row)


@pytest.mark.parametrize("one", questions(), ids=IDS)
def test_a_question_names_a_page_of_the_studio(one: Question) -> None:
    assert (Path(__file__).resolve().parents[2] / "pages" / f"{one.page}.py").exists()
