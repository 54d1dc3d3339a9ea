"""Agreement: how far can I trust these judge scores?"""

import csv
import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.data import uploaded_files
from metrics import engine
from metrics.analysis.labels import pass_rates
from metrics.analysis.labels.judge_agreement import agreements, cut_of
from metrics.analysis.labels.pass_rates import acceptances
from metrics.cli.main import main
from metrics.perturbations.answers import judged_again
from metrics.presentation import agreement_words, format, guarantee_words, phrases
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Labels
from metrics.suites.samples import create, samples
from tests.engine.engine_scenes import one_thread
from tests.judge.judge_scenes import rag
from tests.judge.server import JudgeServer
from tests.labels import MODELS, add_labels, label, labelled_run, passes
from tests.pages.conftest import Open
from tests.pages.reading import labelled, press
from tests.presentation.asked import ask

KEY = "rouge/rouge1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return labelled_run(Workspace(tmp_path_factory.mktemp("trusted")))


@pytest.fixture
def bare(made: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run in the workspace that the pages look at, without labels."""
    monkeypatch.setenv("ASSAY_WORKSPACE", str(made.workspace.path))
    shutil.rmtree(Labels(made).folder, ignore_errors=True)
    return made


@pytest.fixture
def rated(bare: Run) -> Run:
    """All cases labelled by ann, twenty by bo too."""
    label(bare, "ann", range(40))
    label(bare, "bo", range(20))
    return bare


def texts(page: AppTest) -> str:
    assert not page.exception
    kinds = (page.subheader, page.text, page.caption, page.info)
    return "\n".join(element.value for kind in kinds for element in kind)


def kept(run: Run, text: str, name: str = "labels.csv") -> str:
    """An uploaded file, as the uploader keeps it."""
    return uploaded_files.keep(io.BytesIO(text.encode()), name, Path(run.workspace.path) / "uploads")


def test_the_demo_labels_the_judged_sample(workspace: Path, open_page: Open) -> None:
    sample = next(sample for sample in samples() if sample.id == "rag-judged")
    run = engine.execute(create(Workspace(), sample), one_thread)
    page = open_page("judge_agreement", run=run.id)
    button = labelled(page.button, "Try it on the judged sample")
    button.click().run()
    page = open_page("judge_agreement", run=run.id)
    assert "36" in page.sidebar.selectbox(key="filter-criterion").options[0]
    assert "answer_correctness" in texts(page)
    assert "The labels are the demo's" in texts(page)
    assert not [button for button in page.button if button.label == "Try it on the judged sample"]


def test_without_the_sample_there_is_no_demo(bare: Run, open_page: Open) -> None:
    assert not [button for button in open_page("judge_agreement", run=bare.id).button if "sample" in button.label]


def test_without_labels_the_page_teaches_the_format(bare: Run, open_page: Open) -> None:
    page = open_page("judge_agreement", run=bare.id)
    said = texts(page)
    assert (page.title[0].value, page.caption[0].value) == ("Agreement", "Can I trust the judge?")
    assert page.subheader[0].value == "No labels yet"
    assert "case_id,model,rater,criterion,label" in page.code[0].value
    assert "case_id,model,rater,faithfulness,fluency" in page.code[1].value
    assert "pass, fail, unsure or a number" in said
    assert page.button[0].label == "Label outputs"


def test_a_file_is_shown_as_understood_and_added(bare: Run, open_page: Open) -> None:
    rows = "".join(
        f"c{index},{model},ann,{'pass' if index % 3 else 'fail'}\n" for index in range(9) for model in ("long", "short")
    )
    token = kept(bare, "id,model,annotator,rating\n" + rows)
    page = open_page("judge_agreement", run=bare.id, labels=token)
    said = texts(page)
    assert "✓ 18 labels of 9 cases by 1 rater: one label per row, in rating" in said
    boxes = {box.label: box.value for box in page.selectbox}
    assert (boxes["case id"], boxes["rater"], boxes["label"]) == ("id", "annotator", "rating")
    press(page, "Add these labels")
    assert [one.rows for one in Labels(bare).sets()] == [18]
    assert "agreement with people on “label”" in texts(page)
    assert "labels" not in page.query_params


def test_all_problems_of_a_file_are_listed(bare: Run, open_page: Open) -> None:
    token = kept(bare, "case_id,model,label\nnope,long,pass\nc1,tall,maybe\n")
    page = open_page("judge_agreement", run=bare.id, labels=token)
    assert "✗ 3 problems in labels.csv; nothing was added" in texts(page)
    for line in (
        "row 2, column case_id\nFound 'nope'",
        "row 3, column model\nFound 'tall'",
        "column label\nFound 'maybe'",
    ):
        assert line in texts(page)
    assert Labels(bare).sets() == []


def test_agreement_says_what_it_is_worth(rated: Run, open_page: Open) -> None:
    page = open_page("judge_agreement", run=rated.id, key=KEY)
    said = texts(page)
    assert "ROUGE-1 ↑: " in said
    assert "agreement with people on “good”, κ 0." in said
    table = page.dataframe[0].value
    assert set(table["Metric"]) == {f"{name} ↑" for name in ("ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-Lsum")}
    assert all("(" in cell for cell in table["Spearman ρ"])
    assert {metric.label for metric in page.metric} == {"κ", "Accuracy", "Sensitivity", "Specificity"}


def test_page_report_command_and_library_say_the_same(bare, open_page, capsysbinary):
    """Forty outputs were drawn at random; of twenty picked ones the judge is as wrong as can be."""
    label(bare, "ann", range(20))
    label(bare, "bo", range(20, 30), sampling="picked")
    (found,) = agreements(bare, "good", only=("rouge", "rougeL"))
    assert (found.sample, found.n, found.picked) == ("outputs", 40, 20)
    kappa, sentence = phrases.estimated(found.kappa), agreement_words.basis(found)
    assert (
        sentence
        == "40 outputs labelled at random speak for all outputs. 20 picked ones only help to choose a threshold."
    )

    page = open_page("judge_agreement", run=bare.id, key="rouge/rougeL")
    said, table = texts(page), page.dataframe[0].value
    assert f"agreement with people on “good”, κ {kappa}." in said
    assert sentence in said
    assert table.set_index("Metric").loc["ROUGE-L ↑", ["κ", "n"]].tolist() == [kappa, "40"]
    values = {metric.label: metric.value for metric in page.metric}
    assert values["Sensitivity"] == format.number(found.sensitivity.value)

    section = ask("can_the_judge_be_trusted", bare)
    assert section is not None
    assert section.tables[0].rows[0][2] == kappa
    assert section.tables[0].rows[0][4] == phrases.estimated(found.sensitivity)
    assert sentence in section.notes[0]

    assert main(["labels", "agreement", bare.id, "--metric", "rougeL"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsysbinary.readouterr().out.decode())))
    (row,) = [row for row in rows if row["statistic"] == "kappa"]
    assert (row["criterion"], row["sample"], row["n"], row["picked"]) == ("good", "outputs", "40", "20")
    assert [float(row[end]) for end in ("value", "low", "high")] == pytest.approx(
        [found.kappa.value, found.kappa.low, found.kappa.high]
    )


def test_of_picked_labels_alone_the_page_says_whom_they_speak_of(bare: Run, open_page: Open) -> None:
    label(bare, "ann", range(20), sampling="unknown")
    page = open_page("judge_agreement", run=bare.id, key=KEY)
    assert "Of the 40 labelled outputs only: they were picked, or it is not known how they were chosen" in texts(page)
    assert set(page.dataframe[0].value["n"]) == {"40 picked"}


def test_few_labels_are_too_few_to_say(bare: Run, open_page: Open) -> None:
    label(bare, "ann", range(4))
    page = open_page("judge_agreement", run=bare.id, key=KEY, at="0.5")
    assert "ROUGE-1 ↑: too few to say: 2 more random labels of “good” needed." in texts(page)
    assert set(page.dataframe[0].value["κ"]) == {"too few: 2 more"}
    assert {metric.value for metric in page.metric} == {"–"}
    means = open_page("judge_agreement", run=bare.id, key=KEY, view="means").dataframe[0].value
    assert means["Corrected"].tolist() == means["Labels alone"].tolist() == ["too few: 6 more"] * 2
    assert means["Labelled"].tolist() == ["4 of 40"] * 2


def test_the_outputs_of_a_cell_say_which_were_picked(bare: Run, open_page: Open) -> None:
    label(bare, "ann", range(20))
    label(bare, "bo", range(20, 30), sampling="picked")
    page = open_page("judge_agreement", run=bare.id, key=KEY, at="0.5", people="pass", verdict="pass")
    (line,) = [text.value for text in page.text if "people pass, judge pass" in text.value]
    kinds = page.dataframe[0].value["counted"].value_counts()
    assert line.startswith(f"{kinds['random']} outputs and {kinds['picked']} picked ones: ")


def test_the_suggested_threshold_can_be_tried(rated: Run, open_page: Open) -> None:
    page = open_page("judge_agreement", run=rated.id, key=KEY)
    press(page, "Try the suggested threshold")
    assert "suggested by the labels" in texts(page)
    assert "judge each output by thresholds that the other labels chose" in texts(page)
    assert (
        float(page.query_params["at"][0] if isinstance(page.query_params["at"], list) else page.query_params["at"])
        < 0.75
    )


def test_a_calibration_says_what_it_lacks(bare: Run, open_page: Open) -> None:
    def calibrate(page: AppTest) -> Any:
        return labelled(page.button, "Calibrate on your labels")

    label(bare, "ann", range(6))
    few = open_page("judge_agreement", run=bare.id, key=KEY)
    assert "To calibrate, label at least 30 scored outputs; there are " in texts(few)
    assert calibrate(few).disabled
    label(bare, "bo", range(40))
    enough = open_page("judge_agreement", run=bare.id, key=KEY)
    assert "To calibrate" not in texts(enough)
    assert not calibrate(enough).disabled
    part = open_page("judge_agreement", run=bare.id, key=KEY, model="long")
    assert "To calibrate, clear the filters of model and tag" in texts(part)
    assert calibrate(part).disabled


@pytest.mark.parametrize("people", ["pass", "fail"])
@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_a_cell_lists_exactly_its_outputs(rated: Run, open_page: Open, people: str, verdict: str) -> None:
    page = open_page("judge_agreement", run=rated.id, key=KEY, at="0.5", people=people, verdict=verdict)
    (line,) = [text.value for text in page.text if f"people {people}, judge {verdict}" in text.value]
    count = int(line.partition(" ")[0])
    counts = page.get("plotly_chart")[0].proto.spec
    assert f'"{people}","{verdict}",{count}]' in counts.replace(" ", "")
    if count:
        table = page.dataframe[0].value
        assert len(table) == count
        assert all((float(cell) >= 0.5) is (verdict == "pass") for cell in table["judge"])


def test_means_stand_beside_each_other(rated: Run, open_page: Open) -> None:
    page = open_page("judge_agreement", run=rated.id, key=KEY, view="means")
    table = page.dataframe[0].value
    assert table["Model"].tolist() == ["long", "short"]
    assert table["Labelled"].tolist() == ["40 of 40"] * 2
    assert (table["Corrected"] == table["Labels alone"]).all()  # everything is labelled
    said = texts(page)
    assert "80 of 80 labelled outputs were drawn with a known chance" in said
    assert "PPI++" in said


def test_picked_labels_are_not_averaged(bare: Run, open_page: Open) -> None:
    label(bare, "ann", range(20), sampling="picked")
    assert "There are no labels of a random sample" in texts(open_page("judge_agreement", run=bare.id, view="means"))


def test_hints_at_bias_are_no_proof(rated: Run, open_page: Open) -> None:
    page = open_page("judge_agreement", run=rated.id, key=KEY, view="bias")
    assert page.dataframe[0].value["At equal labels"].tolist() == [
        "Each doubling of the answer's words", "Answers of long, against the others",
        "Answers of short, against the others",
    ]  # fmt: skip
    assert "Hints, no proof" in texts(page)
    assert "No judge scored this run" in texts(page)


def test_raters_and_where_they_differ(rated: Run, open_page: Open) -> None:
    page = open_page("judge_agreement", run=rated.id, view="raters")
    assert page.dataframe[0].value["Raters"].tolist() == ["all together", "ann × bo"]
    assert "40 outputs labelled by two raters or more, 0 of them differently" in texts(page)
    assert len(page.dataframe[1].value) == 40
    assert "Of the variance of labels, 100 % (" in texts(page)


def test_three_raters_errors_and_the_judge_in_place_of_one(bare: Run, open_page: Open) -> None:
    add_labels(bare, [
        (f"c{place}", model, rater, passes(place + (rater == "cy") * (place % 7 == 0), model))
        for place in range(40) for model in MODELS for rater in ("ann", "bo", "cy")
    ])  # fmt: skip
    page = open_page("judge_agreement", run=bare.id, view="raters")
    said = texts(page)
    assert "Of 80 outputs with two labels or more, a share of 0." in said
    assert "may replace a rater of “good”" in said or "may not replace a rater of “good”" in said
    tables = [list(frame.value.columns) for frame in page.dataframe]
    assert ["Rater", "Sensitivity", "Specificity", "Passes", "Labels"] in tables
    assert ["Rater left out", "Judge", "Rater", "Adjusted p", "Judge wins", "n"] in tables
    frame = page.dataframe[[columns[0] for columns in tables].index("Rater left out")]
    assert frame.value["Rater left out"].tolist() == ["ann", "bo", "cy"]


def test_a_model_without_labels_has_a_share_by_the_judges_errors(
    bare: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pass_rates, "cut_of", lambda both, _: cut_of(both, 0.6))  # as if rouge had a threshold
    add_labels(bare, [(f"c{place}", "long", "ann", passes(place, "long")) for place in range(40)])
    page = open_page("judge_agreement", run=bare.id, view="means", key=KEY)
    assert "Share that people would pass, by the judge's errors on all models" in texts(page)
    (shares,) = [frame.value for frame in page.dataframe if "Judge passes" in frame.value.columns]
    assert (shares["Model"].tolist(), shares["Labels"].tolist()) == (["long", "short"], ["40", "0"])
    assert all(text.startswith("0.") for text in shares["Corrected"])


def test_sets_can_be_removed_after_a_second_thought(rated: Run, open_page: Open) -> None:
    page = open_page("judge_agreement", run=rated.id, view="labels")
    assert "file ann.csv · 80 labels, 1 rater, for good" in texts(page)
    assert len(page.dataframe[0].value) == 8
    press(page, "Remove")
    assert len(Labels(rated).sets()) == 2
    press(page, "Really remove 80 labels")
    assert [one.name for one in Labels(rated).sets()] == ["bo.csv"]


def test_a_run_without_values_per_case_says_so(run: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.data.agreements.labelled_metrics", lambda run: [])
    assert "nothing to compare labels with" in texts(open_page("judge_agreement", run=run.id))


def test_a_hostile_address_changes_nothing(rated: Run, open_page: Open) -> None:
    page = open_page(
        "judge_agreement", run=rated.id, key="'; DROP", criterion="<b>", at="nan", passing="x", people="pass", view="?"
    )
    assert "agreement with people on “good”" in texts(page)


def test_variants_are_chosen_estimated_and_judged(workspace: Path, open_page: Open) -> None:
    with JudgeServer() as server:
        server.say("byop", lambda request: {"reason": "So.", "verdict": request.text.count("The mill was built") > 1})
        suite, outputs = rag(25)
        resources = {"judge": {"model": "house/scripted", "base_url": server.url}}
        asked = {"byop": {"prompt": "Is this right? {actual_answer}"}}
        run = engine.execute(
            engine.create(Workspace(), suite, outputs, ["byop"], asked, resources=resources), one_thread
        )
        page = open_page("judge_agreement", run=run.id, view="bias")
        assert "About 100 judge calls" in texts(page)
        for box in page.checkbox:
            if box.label != "Length: said twice":
                box.uncheck()
        page.run()
        assert "About 25 judge calls" in texts(page)
        again = engine.execute(judged_again(run, ["answer_padded"], 25).create(Workspace()), one_thread)
    found = open_page("judge_agreement", run=again.id)
    assert "The judge is swayed by what should not matter: Length: said twice." in texts(found)
    assert found.dataframe[0].value[""].tolist() == ["✗ swayed"]


def test_page_report_command_and_library_say_from_which_score_on_to_accept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_page: Open, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Forty labels a model are too few; 200, of which people call one in eleven wrong, are enough for 20 %."""
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    bare = labelled_run(Workspace(tmp_path), 200)
    label(bare, "ann", range(40))
    five = acceptances(bare, "good", ("rouge", "rougeL"))
    assert five[0].missing == 19
    label(bare, "bo", range(40, 200))
    five, twenty = (acceptances(bare, "good", ("rouge", "rougeL"), most=most) for most in (0.05, 0.2))
    assert [one.model for one in five] == ["long", "short", None]
    unshown = "200 labels show no score from which on at most 5 % of the answers are wrong"
    assert all(unshown in guarantee_words.accept_line(one) for one in five)
    sentence = guarantee_words.accept_line(twenty[0])
    assert "long: accept an answer without a person when the score is ≥ 0." in sentence
    page = open_page("judge_agreement", run=bare.id, key="rouge/rougeL", view="accept", model="long")
    assert f"long: {unshown}" in texts(page)
    page = open_page("judge_agreement", run=bare.id, key="rouge/rougeL", view="accept", model="long", most="0.2")
    assert sentence in texts(page)
    table, wrong = page.dataframe[0].value, page.dataframe[1].value
    assert list(table["model"]) == ["long", "short", "all together"]
    assert f"{len(wrong)} labelled answer{'s' if len(wrong) > 1 else ''} would be accepted that people fail" in texts(
        page
    )
    assert table["wrong"][0] == f"{len(wrong)} of {twenty[0].answered}"
    assert f"long: {unshown}" in " ".join(ask("can_the_judge_be_trusted", bare).notes)  # type: ignore[union-attr]
    capsysbinary.readouterr()
    options = ["--workspace", str(bare.workspace.path), "--metric", "rougeL", "--most-errors", "0.2"]
    assert main(["labels", "acceptance", bare.id, *options]) == 0
    rows = list(csv.DictReader(io.StringIO(capsysbinary.readouterr().out.decode())))
    assert [row["model"] for row in rows] == ["long", "short", ""]
    assert f"long: {rows[0]['sentence']}." == sentence
    assert float(rows[0]["accepted"]) == twenty[0].accepted
