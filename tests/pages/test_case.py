"""Case: why did it fail here?"""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from metrics import engine
from metrics.core.suite import Outputs, Suite
from metrics.reports.build import build
from metrics.reports.renderers.html import html
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Labels
from metrics.store.reviews import Review
from metrics.suites.samples import create, samples
from tests.engine.engine_scenes import finished, one_thread
from tests.pages.conftest import Look, Open
from tests.pages.page_scenes import HOSTILE, agents_run, every_told, judged_run, marked, objects_run, texts_run
from tests.pages.reading import labelled, press

ROUGE = {"evaluator": "rouge", "metric": "rougeL"}


@pytest.fixture
def texts(look_at: Look) -> Run:
    return look_at(texts_run)


@pytest.fixture
def pictures(look_at: Look) -> Run:
    return look_at(objects_run)


def words(page: AppTest) -> list[str]:
    """Every text on the page."""
    assert not page.exception
    return [text.value for text in page.text]


def test_a_text_case_with_the_models_side_by_side(texts: Run, open_page: Open) -> None:
    page = open_page("case", run=texts.id, case="t1", **ROUGE)
    shown = words(page)
    assert {"What is 1 + 1?", "It is 2 indeed", HOSTILE} <= set(shown)
    assert {"exact · ROUGE-L 1.00", "hostile · ROUGE-L 0.00"} <= set(shown)
    scores = page.dataframe[-1].value
    assert set(scores["evaluator"]) == {"ROUGE", "BLEU"}
    assert scores.loc[scores["metric"] == "ROUGE-L", ["exact", "hostile"]].to_numpy().tolist() == [["1.00", "0.00"]]


def test_why_stands_open_and_every_score_in_one_table(look_at: Look, open_page: Open) -> None:
    page = open_page("case", run=look_at(judged_run).id, case="gate", evaluator="faithfulness", metric="faithfulness")
    assert "Why: Faithfulness" in [heading.value for heading in page.subheader]
    assert not [part.label for part in page.expander if part.label.startswith("Evidence")]
    scores = page.dataframe[-1].value
    assert scores["small"].tolist()[0] == "✗ 0.500", "what failed stands first"
    contexts = [part.label for part in page.expander if part.label.startswith("Retrieved contexts")]
    assert contexts == [r"Retrieved contexts (3): Suspension bridges hang from cables\."], "once, as both have the same"


def test_a_case_says_what_it_is_sorted_by(workspace: Path, open_page: Open) -> None:
    case = {
        "case_id": "c",
        "question": "Why?",
        "tags": ["hard"],
        "metadata.category": "billing",
        "metadata.empty": None,
    }
    suite = Suite.from_rows("Asked", "text", [case | {"expected_answers": ["so"]}])
    outputs = Outputs.from_rows([{"case_id": "c", "model": "m", "answer": "no"}])
    run = finished(Workspace(workspace), suite, outputs, "rouge")
    assert "hard · category: billing" in words(open_page("case", run=run.id, case="c", **ROUGE))
    assert "hard, category: billing" in html(build(run)).decode(), "and so does the report"


def test_text_of_models_is_never_markup(texts: Run, open_page: Open) -> None:
    for view in ("written", "expected"):
        page = open_page("case", run=texts.id, case="t1", view=view, **ROUGE)
        assert not [element.value for element in (*page.markdown, *page.caption) if "127.0.0.1:9" in element.value]


def test_an_answer_against_the_expected_one(texts: Run, open_page: Open) -> None:
    page = open_page("case", run=texts.id, case="t1", view="expected", **ROUGE)
    assert ("It is 2 indeed", "") in marked(page)
    assert ("It is 2 indeed", "removed") in marked(page)
    assert (HOSTILE, "added") in marked(page)


def test_the_markdown_of_an_answer_is_rendered_where_asked(texts: Run, open_page: Open) -> None:
    page = open_page("case", run=texts.id, case="t1", view="rendered", **ROUGE)
    trees = [block["tree"] for each in every_told(page, "prose") for block in each["blocks"] if "tree" in block]
    assert trees == [[["p", ["code", "[image: x] <http://127.0.0.1:9/x.png>"], " <img src=x onerror=alert(1)>"]]]


def test_an_answer_beside_that_of_another_model(texts: Run, open_page: Open) -> None:
    page = open_page("case", run=texts.id, case="t1", model="hostile", baseline="model:exact", **ROUGE)
    assert "Struck out: only in the first answer. Underlined: only in the second." in words(page)
    titles = [text for text in words(page) if text.endswith(("ROUGE-L 1.00", "ROUGE-L 0.00"))]
    assert titles == ["exact · ROUGE-L 1.00", "hostile · ROUGE-L 0.00"]
    assert marked(page) == [("It is 2 indeed", "removed"), (HOSTILE, "added")]
    scores = page.dataframe[-1].value.set_index("metric")
    assert scores.loc["ROUGE-L", ["exact", "hostile", "−"]].tolist() == ["1.00", "0.00", "−1.00 worse"]
    assert "The same contexts (2): counting" in [part.label for part in page.expander]
    back = open_page("case", run=texts.id, case="t1", model="exact", baseline="model:exact", **ROUGE)
    assert marked(back) == marked(page), "it is what the others are compared with"
    assert not marked(open_page("case", run=texts.id, case="t1", view="written", **ROUGE))[0][1]


def test_an_answer_beside_that_of_an_earlier_run(look_at_copy: Look, open_page: Open) -> None:
    texts = look_at_copy(texts_run)
    suite, outputs = texts.suite, texts.outputs.outputs.to_pylist()
    rows = [{"case_id": row["case_id"], "model": row["model"], "answer": str(row["answer"]).upper()} for row in outputs]
    contexts = [None, [HOSTILE, "counting sheep"]]
    later = [row | {"retrieved_contexts": contexts[row["model"] == "exact"]} for row in rows if row["case_id"] != "t2"]
    again = finished(Workspace(), suite, Outputs.from_rows(later), "rouge", name="Later")
    about = {"run": again.id, "model": "exact", "baseline": f"run:{texts.id}"} | ROUGE
    page = open_page("case", case="t1", **about)
    assert "The answers are the same but for case." in words(page)
    apart = {("It is", "removed"), ("indeed", "removed"), ("IT IS", "added"), ("INDEED", "added")}
    assert apart | {(HOSTILE, ""), ("counting sheep", "added"), ("counting", "removed")} <= {*marked(page)}
    heads = list(page.dataframe[-1].value)[2:]
    assert heads == ["exact · Run Sums", "exact", "−"]
    page = open_page("case", case="t2", run=texts.id, model="exact", baseline=f"run:{again.id}", **ROUGE)
    assert "Run Later: nothing to compare with in this case." in words(page)


def test_previous_and_next_follow_the_list(texts: Run, open_page: Open) -> None:
    page = open_page("case", run=texts.id, model="exact", **ROUGE)
    assert page.query_params["case"] == "t0"
    assert "t0 · 1 of 3, worst first by ROUGE-L of exact" in words(page)
    assert labelled(page.button, "Previous").disabled
    press(page, "Next case")
    assert page.query_params["case"] == "t1"
    press(page, "Previous")
    assert page.query_params["case"] == "t0"


def test_an_unknown_case_says_where_the_others_are(texts: Run, open_page: Open) -> None:
    page = open_page("case", run=texts.id, case="nobody", **ROUGE)
    assert "There is no such case" in [heading.value for heading in page.subheader]


def test_an_unknown_metric_falls_back_to_the_first_number(texts: Run, open_page: Open) -> None:
    assert "worst first by ROUGE-L" in words(open_page("case", run=texts.id, evaluator="nobody", metric="none"))[0]


def test_a_person_overrules_the_judge_in_one_click_and_takes_it_back(look_at_copy: Look, open_page: Open) -> None:
    run = look_at_copy(judged_run)
    labels = Labels(run)

    def kept() -> list[tuple[Any, ...]]:
        names = ("case_id", "model", "rater", "criterion", "value", "sampling")
        return [tuple(row[name] for name in names) for row in labels.table().to_pylist()]

    about = {"run": run.id, "case": "gate", "evaluator": "faithfulness", "metric": "faithfulness"}
    page = open_page("case", **about)
    assert [group.label for group in page.segmented_control[-2:]] == ["Your verdict: Faithfulness"] * 2
    page.segmented_control(key="verdict-gate-small").set_value("✗ Fail").run()
    assert kept() == [("gate", "small", "unnamed", "faithfulness", 0.0, "seen")]
    again = open_page("case", **about)
    assert again.segmented_control(key="verdict-gate-small").value == "✗ Fail"
    assert again.segmented_control(key="verdict-gate-rude").value is None
    again.segmented_control(key="verdict-gate-small").set_value(None).run()
    assert not again.exception
    assert kept() == []
    labels.give("gate", "small", "ann", "faithfulness", 1.0, "drawn")
    page = open_page("case", rater="ann", **about)
    page.segmented_control(key="verdict-gate-small").set_value("Unsure").run()
    assert kept() == [("gate", "small", "ann", "faithfulness", None, "drawn")]


def test_only_a_judge_is_overruled(texts: Run, open_page: Open) -> None:
    page = open_page("case", run=texts.id, case="t1", **ROUGE)
    assert not [group for group in page.segmented_control if group.label.startswith("Your verdict")]


def test_what_an_agent_did_stands_under_its_answer(tmp_path, monkeypatch, open_page):
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    run = agents_run(tmp_path)
    page = open_page("case", run=run.id, case="t1", evaluator="agent_sanity", metric="agent_sanity")
    labels = [expander.label for expander in page.expander]
    assert labels[:2] == ["Trace: 3 steps · 2 calls · 1 failed", "Trace: unreadable"]
    shown = words(page)
    assert "the trace is not JSON: Expecting value at line 1, column 1" in shown
    assert f"no JSON {HOSTILE}" in [code.value for code in page.code]
    assert not [element.value for element in (*page.markdown, *page.caption) if "127.0.0.1:9" in element.value]


def test_a_picture_is_matched_anew_as_the_sliders_move(pictures: Run, open_page: Open) -> None:
    page = open_page("case", run=pictures.id, case="p2", score="0")
    assert {"keen\n✓ 2 found · ✗ 1 false · – 0 missed", "shy\n✓ 1 found · ✗ 0 false · – 1 missed"} <= set(words(page))
    page.slider[0].set_value(0.7).run()
    assert page.query_params["score"] == "0.7"
    assert "keen\n✓ 1 found · ✗ 0 false · – 1 missed" in words(page)


def test_each_model_counts_from_its_own_best_f1_unless_one_score_is_chosen_for_all(
    pictures: Run, open_page: Open
) -> None:
    Review(pictures).choose_point(None, 0.5)
    page = open_page("case", run=pictures.id, case="p2")
    assert {
        "keen · score ≥ 0.31\n✓ 2 found · ✗ 0 false · – 0 missed",
        "shy · score ≥ 0.00\n✓ 1 found · ✗ 0 false · – 1 missed",
    } <= set(words(page))
    whose = page.segmented_control(key="point-whose")
    assert whose.value == "best"
    whose.set_value("").run()
    assert page.query_params["score"] == "0.31"
    assert "keen\n✓ 2 found · ✗ 0 false · – 0 missed" in words(page)
    page.segmented_control(key="point-whose").set_value("best").run()
    assert page.query_params["score"] == "best"
    assert "keen · score ≥ 0.31\n✓ 2 found · ✗ 0 false · – 0 missed" in words(page)


def test_one_class_and_one_model_from_the_address(pictures: Run, open_page: Open) -> None:
    page = open_page("case", run=pictures.id, case="p2", label="dog", compare="keen", score="0")
    assert "keen\n✓ 1 found · ✗ 1 false · – 0 missed" in words(page)
    assert page.dataframe[0].value["kind"].tolist() == ["true positive", "false positive", "ground truth, found"]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the image viewer was given to draw last."""
    given: dict[str, Any] = {}
    monkeypatch.setattr("components.viewers.image_viewer.viewer", lambda payload, detail=None: given.update(payload))
    return given


GHOSTS = {"model": "keen", "compare": "keen", "gallery": "model=keen&kind=fp&score=0", "score": "0"}


def test_next_walks_the_objects_of_the_gallery_and_marks_each(pictures, open_page, drawn):
    page = open_page("case", run=pictures.id, case="p0", object="p2", **GHOSTS)
    assert words(page)[0] == "1 of 4 objects · dog 0.30, background · image p0"
    assert drawn["focus"] == {"box": (80.0, 5.0, 90.0, 15.0), "name": "dog", "view": (53.0, 0.0, 64.0)}
    press(page, "Next object")
    assert (page.query_params["case"], page.query_params["object"]) == ("p1", "p6")
    assert words(page)[0] == "2 of 4 objects · dog 0.30, background · image p1"
    press(page, "Previous")
    assert page.query_params["object"] == "p2"
    assert labelled(page.button, "Previous").disabled


@pytest.mark.parametrize(
    ("state", "params", "position"),
    [
        pytest.param("model=shy&kind=fn", {"case": "p1", "object": "a4"}, "2 of 4 objects · dog, missed", id="missed"),
        pytest.param("model=keen&kind=tp&view=images", {"case": "p1"}, "2 of 4 images", id="images"),
        pytest.param("model=keen&kind=tp&label=cat", {}, "1 of 4 objects · cat 0.90, found", id="none-named"),
        pytest.param(
            "model=keen&kind=tp", {"case": "p0", "object": "p2"}, "not among the gallery's 8", id="not-listed"
        ),
    ],
)
def test_where_the_example_stands_in_the_gallery(pictures, open_page, state, params, position):
    shown = words(open_page("case", run=pictures.id, gallery=f"{state}&score=0", **params))[0]
    assert shown == f"{position} · image {params.get('case', 'p0')}"


def test_a_mark_stays_on_the_clicked_model_among_others(pictures: Run, open_page: Open, drawn: dict[str, Any]) -> None:
    state = {"model": "shy", "gallery": "model=shy&kind=tp&score=0", "case": "p0", "object": "p3"}
    open_page("case", run=pictures.id, compare=["keen", "shy"], score="0", **state)
    assert [panel["title"] for panel in drawn["panels"]] == ["keen", "shy"]
    assert drawn["focus"]["box"] == (10.0, 10.0, 40.0, 30.0)


def test_an_object_of_a_list_is_marked_without_a_gallery(pictures: Run, open_page: Open, drawn: dict[str, Any]) -> None:
    open_page("case", run=pictures.id, case="p0", model="shy", object="p3")
    assert drawn["focus"]["box"] == (10.0, 10.0, 40.0, 30.0)
    open_page("case", run=pictures.id, case="p0", model="shy", object="p999")
    assert drawn["focus"] is None


def test_a_picture_that_is_gone_leaves_its_boxes(pictures: Run, open_page: Open, tmp_path: Path) -> None:
    from metrics import analysis

    path = analysis.example(pictures, "p3").image
    assert path is not None
    kept = path.read_bytes()
    path.write_bytes(b"broken")
    try:
        page = open_page("case", run=pictures.id, case="p3", score="0")
        assert "Only the outlines are drawn" in page.error[0].value
        assert "keen\n✓ 2 found · ✗ 1 false · – 0 missed" in words(page)
    finally:
        path.write_bytes(kept)


def test_a_conversation_and_expected_calls_stand_beside_the_answer(workspace: Path, open_page: Open) -> None:
    folded = {}
    for sample in samples():
        if sample.id in ("agents", "conversations"):
            run = engine.execute(create(Workspace(), sample), one_thread)
            case = {"agents": "laser", "conversations": "room"}[sample.id]
            page = open_page("case", run=run.id, case=case)
            folded[sample.id] = [part.label for part in page.expander]
    assert "Conversation: 6 turns · ✓ 11" in folded["conversations"]
    assert "Conversation: 6 turns · ✓ 8 · ✗ 3" in folded["conversations"]
    assert "Trace: 8 steps · 3 calls · 3 of 3 expected calls" in folded["agents"]
    assert not [label for label in folded["agents"] if label.startswith("Conversation")]
