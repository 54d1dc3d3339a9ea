"""Runs: what is being computed, and what has been?"""

import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.data import evaluation_inputs, run_archives, run_reads, uploaded_files, workspace_runs
from components.viewers import browser_parts
from components.views.results import run_cards
from metrics import engine
from metrics.analysis import headline, leaderboard
from metrics.library.evaluate import as_evaluation
from metrics.library.prepare import prepare
from metrics.presentation import format
from metrics.store import Run, Workspace
from metrics.store.run_check import verify
from metrics.store.threshold_profiles import ThresholdProfiles
from tests.endless_calls import endless
from tests.engine.engine_scenes import AtOnce, finished, stopped, text_outputs, text_suite
from tests.pages.conftest import Look, Open, Went, labels_outputs, labels_suite
from tests.pages.page_scenes import objects_run
from tests.pages.reading import press


@pytest.fixture
def queued(workspace: Path) -> Run:
    return engine.create(Workspace(), labels_suite(), labels_outputs(), ["classification"], name="Waiting")


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def press_key(page: AppTest, key: str) -> AppTest:
    """The page after a click on the button of that key."""
    return page.button(key=key).click().run()


def pick(page: AppTest, run: Run, option: str) -> AppTest:
    """The page after a choice from the menu of a run's card."""
    return page.menu_button(key=f"more-{run.id}").click(option).run()


def test_a_finished_run_has_a_card_with_its_own_buttons(run: Run, open_page: Open, went: Went) -> None:
    page = open_page("runs")
    texts = [text.value for text in page.text]
    assert texts[:4] == [
        "0 running · 0 stopped · 1 finished", "Animals", "✓ finished",
        f"120 cases · sharp, blunt, <img src=x oner…0.0.1:9/x.png) · {format.moment(run.created)} · {run.id}",
    ]  # fmt: skip
    assert page.caption[1].value == "Classification"
    for action in ("open", "report"):
        press_key(open_page("runs"), f"{action}-{run.id}")
    assert went == [{"page": "leaderboard", "run": run.id}, {"page": "report", "run": run.id}]


def test_a_card_names_the_suite_where_the_run_is_called_otherwise_and_a_few_models(run: Run) -> None:
    facts = workspace_runs.run_facts(run.id)
    renamed = facts._replace(name="Monday", models=("a", "b", "c", "d", "e"))
    assert run_cards.facts_line(renamed).startswith("animals: 120 cases · a, b, c and 2 more · ")


def test_a_run_under_way_shows_its_progress_and_can_be_cancelled(queued: Run, open_page: Open) -> None:
    page = open_page("runs", run=queued.id)
    page = press_key(page, f"cancel-{queued.id}")
    assert not page.exception
    assert queued.state == "cancelled"
    assert "– cancelled" in [text.value for text in page.text]
    assert "Resume" in labels(page)


def test_a_stopped_run_can_be_resumed(queued: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.cancel(queued)
    resumed: list[str] = []
    monkeypatch.setattr("metrics.engine.resume", lambda run: resumed.append(run.id))
    page = open_page("runs")
    texts = [text.value for text in page.text]
    assert texts[1:3] == ["Waiting", "– cancelled"]
    press_key(page, f"resume-{queued.id}")
    assert not page.exception
    assert resumed == [queued.id]


def test_a_refusal_is_told(queued: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from metrics.core.errors import RunBusy

    def busy(run: Run) -> None:
        raise RunBusy(f"run {run.id} is being worked on already")

    engine.cancel(queued)
    monkeypatch.setattr("metrics.engine.resume", busy)
    page = open_page("runs")
    press(page, "Resume")
    assert page.error[0].value == f"run {queued.id} is being worked on already"


def three_runs(folder: Path) -> Run:
    """Two runs of one suite and one of another, all finished, the newest last."""
    store = Workspace(folder)
    finished(store, text_suite(), text_outputs(), "rouge", name="Monday")
    finished(store, text_suite(4), text_outputs(4, ("good",)), "rouge", "bleu")
    return finished(store, text_suite(), text_outputs(), "rouge", parameters={"rouge": {"threshold": 0.5}})


@pytest.fixture
def three(look_at_copy: Look) -> list[Run]:
    look_at_copy(three_runs)
    return Workspace().runs()[::-1]


def cards(page: AppTest) -> list[str]:
    """The ids of the runs with a card, in their order."""
    return [button.key.removeprefix("open-") for button in page.button if str(button.key).startswith("open-")]


def test_runs_are_named_by_suite_and_models(three: list[Run], open_page: Open) -> None:
    texts = [text.value for text in open_page("runs").text]
    assert [name for name in texts if name in ("turns · 2 models", "turns · good", "Monday")] == [
        "turns · 2 models", "turns · good", "Monday",
    ]  # fmt: skip


def test_a_run_is_compared_with_the_one_before_of_its_suite(three: list[Run], open_page: Open, went: Went) -> None:
    page = open_page("runs")
    compared = [button.key for button in page.button if str(button.key).startswith("compare-")]
    assert compared == [f"compare-{three[2].id}"]
    press_key(page, f"compare-{three[2].id}")
    model = next(model for model in three[2].models if model in three[0].models)
    assert went == [{"page": "compare", "run": three[0].id, "other": three[2].id, "a": model, "b": model}]
    assert "good leads: best in ROUGE-L · good: ROUGE-L 1.00 (0.610–1.00)" in [text.value for text in page.text]


def readable(folder: Path) -> Run:
    """A run whose first evaluator's primary metric has no better end."""
    return finished(Workspace(folder), text_suite(), text_outputs(), "readability", "rouge")


def test_a_card_shows_the_metric_by_which_the_headline_sorts(look_at: Look) -> None:
    run = look_at(readable)
    board, found = leaderboard(run), headline(leaderboard(run))
    assert board.columns[0].primary
    column = next(one for one in board.columns if one.key == found.sorted_by)
    assert (board.columns[0].evaluator, column.evaluator) == ("readability", "rouge")
    assert run_reads.result_line(run.id).startswith(f"{found.sentence[:-1]} · {found.models[0]}: ROUGE-L ")


def test_the_result_of_a_run_is_read_once_for_what_it_rests_on(three: list[Run], monkeypatch) -> None:
    ids, boards = [run.id for run in three], []
    leaderboard_of = run_reads.leaderboard
    monkeypatch.setattr(run_reads, "leaderboard", lambda *asked: boards.append(asked) or leaderboard_of(*asked))
    lines = [run_reads.result_line(id) for id in ids]
    assert all(lines)
    read = len(boards)
    assert ([run_reads.result_line(id) for id in ids], len(boards)) == (lines, read)
    ThresholdProfiles(Workspace().path).mark_decisive(three[0].spec.suite.fingerprint, ["rouge/rouge2"])
    assert "ROUGE-2" in run_reads.result_line(ids[0])
    kept = Workspace().path / "cache" / "result-lines" / f"{ids[1]}.json"
    for broken in ("{", "[]", "{}", '{"of": 1}'):
        kept.write_text(broken)
        assert run_reads.result_line(ids[1]) == lines[1]


def test_a_clone_begins_with_what_the_run_was_asked(three, open_page, went, started):
    pick(open_page("runs"), three[2], "Clone with changes")
    (values,) = went
    assert values.pop("page") == "evaluate"
    assert values == {
        "from": "run", "suite": three[2].id, "evaluator": ["rouge"], "parameters": '{"rouge": {"threshold": 0.5}}',
    }  # fmt: skip
    page = open_page("evaluate", **values)
    assert "turns: 6 cases, text" in [text.value for text in page.text]
    assert "1 evaluator chosen" in [text.value for text in page.text]
    press(page, "Start")
    assert started[0].spec.suite == three[2].spec.suite
    assert started[0].spec.outputs == three[2].spec.outputs
    assert started[0].evaluators == three[2].evaluators


def test_a_clone_is_made_as_in_the_same_system(workspace: Path, open_page: Open, started: list[Run]) -> None:
    rows = [{"question": "Capital of Peru?", "expected": "It is Lima.", "answer": "Lima, I think."}]
    run = prepare(as_evaluation(rows, None, ["rouge", "bleu"], {"as_in": "h2o", "workspace": workspace})).create()
    page = open_page("evaluate", **evaluation_inputs.asked_of(run.id))
    press(page, "Start")
    assert (started[0].evaluators, started[0].made_as) == (run.evaluators, run.made_as)


def test_name_notes_and_tags_stand_beside_the_sealed_run(three: list[Run], open_page: Open) -> None:
    before = (three[0].folder / "manifest.json").read_bytes()
    page = pick(open_page("runs"), three[0], "Name, notes and tags")
    page.text_input(key=f"name-{three[0].id}").set_value("Before the fix")
    page.text_area(key=f"notes-{three[0].id}").set_value("Answers were cut at 20 words.")
    page.multiselect(key=f"tags-{three[0].id}").set_value(["baseline", "2026"])
    page = press_key(page, f"save-{three[0].id}")
    assert not page.exception
    texts = [text.value for text in page.text]
    assert {"Before the fix", "#baseline  #2026", "Answers were cut at 20 words."} <= set(texts)
    assert (three[0].folder / "manifest.json").read_bytes() == before
    verify(three[0])
    assert cards(open_page("runs", tag="baseline")) == [three[0].id]
    assert cards(open_page("runs", search="CUT fix")) == [three[0].id]
    assert cards(open_page("runs", search="nothing like it")) == []


def test_the_bin_gives_back_until_it_is_emptied(three: list[Run], open_page: Open) -> None:
    first, other, last = three
    page = pick(open_page("runs"), other, "Move to the bin")
    assert cards(page) == [last.id, first.id]
    assert page.expander[-1].label == "Bin (1)"
    page = press_key(page, f"restore-{other.id}")
    assert cards(page) == [last.id, other.id, first.id]
    page = press_key(pick(page, first, "Move to the bin"), "empty-bin")
    page = press_key(page, "empty-bin-sure")
    assert not page.exception
    assert cards(page) == [last.id, other.id]
    assert not Workspace().bin.ids()


def test_a_damaged_run_hides_no_other(three: list[Run], open_page: Open) -> None:
    (three[1].folder / "spec.json").write_text("{")
    page = open_page("runs")
    assert cards(page) == [three[2].id, three[0].id]
    assert page.code[0].value.startswith(f"run {three[1].id} is damaged: spec.json cannot be read")
    page = press_key(page, f"delete-{three[1].id}")
    assert not page.exception
    assert not page.code
    assert f"{three[1].id} · damaged" in [text.value for text in page.text]


def test_ten_runs_a_page(workspace: Path, open_page: Open) -> None:
    run = finished(Workspace(), text_suite(), text_outputs(), "rouge")
    for number in range(1, 100):
        folder = run.folder.with_name(f"202601{number % 28 + 1:02}-{number:06}-{run.id[-6:]}")
        shutil.copytree(run.folder, folder)
    page = open_page("runs")
    assert page.text[0].value == "0 running · 0 stopped · 100 finished"
    assert page.text[1].value == "100 runs, page 1 of 10"
    assert len(cards(page)) == 10
    assert not {*cards(open_page("runs", page="10"))} & {*cards(page)}


@pytest.mark.parametrize("name", ["leaderboard", "cases", "problems"])
def test_a_stopped_run_shows_what_it_has_scored(name: str, workspace: Path, open_page: Open) -> None:
    run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu"])
    page = open_page(name, run=run.id)
    assert "No case was scored before it stopped." not in [text.value for text in page.text], "it has not begun"
    stopped(run, 3)
    page = open_page(name, run=run.id)
    texts = [text.value for text in page.text]
    assert "– cancelled · unfinished: 1 of 2 evaluators done" in texts
    assert page.get("progress")[0].proto.text.startswith("18 of 24 done · ")
    assert "Resume" in labels(page)
    assert page.query_params["run"] == run.id


def killed_run(folder: Path) -> Run:
    """A run of pictures whose process died, as it leaves it."""
    whole = objects_run(folder)
    chosen = ["detection_pr_curve", "average_precision"]
    run = stopped(engine.create(Workspace(folder), whole.suite, whole.outputs, chosen), 1)
    (run.folder / "cancel").unlink()
    return run


@pytest.mark.parametrize(("name", "values"), [
    ("leaderboard", {}), ("gallery", {}), ("curves", {}), ("case", {"case": "p1", "model": "keen"}), ("report", {}),
])  # fmt: skip
def test_a_killed_run_of_pictures_shows_the_models_that_are_done(name, values, look_at, open_page):
    run = look_at(killed_run)
    page = open_page(name, run=run.id, **values)
    told = [text.value for text in page.text]
    if name == "report":
        assert page.subheader[0].value == "This run is not finished"
    else:
        assert "✗ interrupted · unfinished: 0 of 2 evaluators done" in told


def test_the_headline_of_an_unfinished_run_is_of_the_evaluators_that_are_done(workspace, open_page, monkeypatch):
    drawn: list[dict[str, Any]] = []
    nothing = browser_parts.Asked(None, None, None)
    monkeypatch.setattr(browser_parts, "heatmap", lambda given: drawn.append(given) or nothing)
    run = stopped(engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu"]), 1)
    open_page("leaderboard", run=run.id)
    assert drawn[-1]["headline"] == "So far 0 of 2 evaluators are done: no model is recommended yet."
    assert drawn[-1]["columns"][0]["title"] == "ROUGE-L … 50 %"
    open_page("leaderboard", run=stopped(run, 2).id)
    assert drawn[-1]["headline"] == "So far 1 of 2 evaluators are done: no model is recommended yet."
    assert [column["title"] for column in drawn[-1]["columns"]] == ["ROUGE-L", "BLEU-4 … 50 %"]
    assert "Not finished: 6 of 12 rows scored" in drawn[-1]["columns"][1]["about"]
    (run.folder / "cancel").unlink()
    engine.execute(run, AtOnce)
    page = open_page("leaderboard", run=run.id)
    assert not any("unfinished" in text.value for text in page.text)
    assert not drawn[-1]["headline"].startswith("So far")


def test_no_run_teaches(workspace: Path, open_page: Open) -> None:
    page = open_page("runs")
    assert page.subheader[0].value == "No run yet"
    assert labels(page) == ["Evaluate a suite", "Open"]


def test_an_archive_opens_in_another_workspace(run, tmp_path, open_page, monkeypatch):
    packed = run_archives.archive_run(run.id)
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "other"))
    damaged = packed[:5000] + bytes([packed[5000] ^ 1]) + packed[5001:]
    for content, said in (
        (damaged, "✗ The archive cannot be opened; nothing of it was kept."),
        (packed, "✓ Animals is in this workspace now."),
        (packed, "✓ Animals was in this workspace already."),
    ):
        token = uploaded_files.keep(io.BytesIO(content), "run.zip", uploaded_files.upload_folder())
        page = open_page("runs", archive=token)
        press(page, "Open")
        assert not page.exception
        assert said in [text.value for text in page.text]
    assert Workspace().run(run.id).manifest == run.manifest


@pytest.mark.attack(
    "suite author",
    "the archive of a run keeps its reader busy for ever, and with it the page",
    "archives are opened in a process with limits of time and memory",
)
def test_an_endless_archive_is_told_and_leaves_nothing(run, monkeypatch):
    token = uploaded_files.receive(io.BytesIO(b"PK\3\4"), "run.zip", uploaded_files.ARCHIVES)
    monkeypatch.setattr("metrics.reports.archives.read.import_archive", endless)
    monkeypatch.setattr("metrics.core.reading_worker.SECONDS", 0.5)
    said = run_archives.import_run(token, False)
    assert (said.id, "run.zip: found a file that was not read within 0.5" in said.problems) == (None, True)
