"""What a notebook or a terminal shows of a run, and its tables as Arrow and polars."""

import re
import sys
from html.parser import HTMLParser

import pandas as pd
import polars as pl
import pytest

from metrics import Run, Workspace
from metrics.core.errors import InputError, MissingResource
from metrics.core.suite import Outputs, Suite
from metrics.presentation.format import number
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.ingest.files import picture

EVIL = '<script>alert(1)</script><img src="http://x.y/z"> & "q"'


class Tags(HTMLParser):
    """The names of the elements, the addresses in attributes, and the text outside of styles."""

    def __init__(self, html: str):
        super().__init__()
        self.names: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href", "action")]

    def handle_data(self, data: str) -> None:
        self.text += data if self.names[-1:] != ["style"] else ""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    suite = Suite.from_rows("evil " + EVIL, "text", text_suite().cases.to_pylist())
    rows = text_outputs(models=("good", "poor")).outputs.to_pylist()
    rows = [row | {"model": row["model"] + EVIL} for row in rows]
    made = finished(Workspace(tmp_path_factory.mktemp("w")), suite, Outputs.from_rows(rows), "rouge", "bleu",
                    parameters={"rouge": {"threshold": 0.75}})  # fmt: skip
    return Run(made.folder)


def test_a_notebook_shows_the_leaderboard(run):
    html = run._repr_html_()
    page = Tags(html)
    assert {"script", "img", "link", "iframe"}.isdisjoint(page.names)
    assert page.links == []
    assert not re.search(r"url\(|@import", html)
    assert "good" + EVIL in page.text
    values = run.aggregates.query("metric == 'rougeL' and slice.isna()")["value"].tolist()
    assert all(number(value) in page.text for value in values)
    assert "background:var(--good20)" in html
    assert "under 0.75" in page.text
    assert "n 6" in page.text


def test_every_rule_of_style_is_for_the_view_alone(run):
    style = re.search(r"<style>(.*?)</style>", run._repr_html_(), re.DOTALL)
    assert style is not None
    assert 'data-jp-theme-light="false"' in style[1]
    assert "prefers-color-scheme:dark" in style[1]
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]+\{", "", style[1]))
    assert all(".assay-view" in part for selector in selectors for part in selector.split(","))


def test_a_terminal_shows_one_line_or_the_leaderboard(run):
    assert repr(run) == f"Run({run.id!r}, finished)"
    lines = str(run).splitlines()
    assert lines[0].startswith(f"Run {run.id} · evil")
    best = next(line for line in lines if line.startswith("ROUGE-L\u00a0↑, n 6 · ≥ 0.75"))
    assert "1.00 0.610–1.00" in best


def test_an_unfinished_run_says_how_it_goes_on(run, workspace):
    from metrics import engine

    waiting = Run(engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"]).folder)
    assert "queued, 0% done: it has not begun" in str(waiting)
    assert "queued, 0% done: it has not begun" in Tags(waiting._repr_html_()).text


def test_a_case_is_shown_with_the_evidence_of_one_evaluator_or_of_all(run):
    model = "poor" + EVIL
    everything = run.show("c1")
    assert [(one.model, one.repeat) for one in everything.outputs] == [("good" + EVIL, 1), (model, 1)]
    one = run.show("c1", "rouge", model)
    assert [metric.title for metric in one.outputs[0].because] == ["ROUGE-L"]
    assert "brevity penalty" not in repr(one)
    assert "brevity penalty" in repr(everything)
    page = Tags(one._repr_html_())
    assert "What is said of number 1?" in page.text
    assert "script" not in page.names
    with pytest.raises(InputError) as refused:
        run.show("c1", "rogue", "nobody")
    assert len(refused.value.problems) == 2
    with pytest.raises(InputError, match="has no case 'c99'"):
        run.show("c99")


def test_an_image_is_shown_with_its_boxes(tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "1.png").write_bytes(picture(80, 60))
    cat = {"case_id": "1", "label": "cat", "x": 10.0, "y": 10.0, "width": 40.0, "height": 30.0}
    cases = [{"case_id": "1", "image": "1.png", "image_width": 80, "image_height": 60}]
    suite = Suite.from_rows("cats", "detection", cases, [cat | {"annotation_id": 1, "area": 1200.0}])
    suite = Suite(suite.name, suite.task, suite.cases, suite.annotations, suite.labels, tmp_path / "media")
    outputs = Outputs.from_rows([{"case_id": "1", "model": "m"}], [cat | {"model": "m", "score": 0.9}])
    shown = Run(finished(Workspace(tmp_path / "w"), suite, outputs, "average_precision").folder).show("1")
    html = shown._repr_html_()
    assert html.count("data:image/") == 1
    assert not re.search(r'(href|src)="(?!data:|#)', html)
    assert {box.kind for box in shown.outputs[0].boxes} == {"tp", "annotation"}
    assert "2 objects drawn" in repr(shown)


def test_tables_as_arrow_and_polars_are_those_of_pandas(run):
    for name, frame in (("scores", run.scores), ("aggregates", run.aggregates)):
        table = run.arrow(name)
        assert table.column_names == list(frame.columns)
        pd.testing.assert_frame_equal(table.to_pandas(), frame, check_dtype=False)
        made = run.polars(name)
        assert isinstance(made, pl.DataFrame)
        assert made.to_arrow().column("value").to_pylist() == table.column("value").to_pylist()
    with pytest.raises(InputError, match="the table 'points'; expected one of scores, aggregates"):
        run.arrow("points")


def test_without_polars_the_message_says_what_to_do(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingResource, match="pip install polars"):
        run.polars()
