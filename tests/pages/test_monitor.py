"""Monitor: does what production answers still pass?"""

import json
import re
import shlex
from pathlib import Path

import pytest

from components.views.results.monitor_view import COMMAND, LINE
from metrics.calibrations import calibrated_thresholds
from metrics.cli.main import parser
from metrics.core.suite import Outputs, Suite
from metrics.monitoring import feed, monitor, reference_of
from metrics.store import Run, Workspace
from metrics.store.threshold_profiles import Calibrations
from tests.calibrations.test_calibrated_thresholds import calibration
from tests.engine.engine_scenes import finished
from tests.monitoring.monitor_scenes import begun, line, write
from tests.pages.conftest import HOSTILE, Look, Open
from tests.pages.reading import labelled, press, words


def monitored_run(folder: Path) -> Run:
    """A monitor of 60 lines in windows of 20, of which 20, 5 and 5 pass, with a reference and two bad lines."""
    rows = [line(index) for index in range(40)]
    suite = Suite.from_rows("before", "text", [{"case_id": row["id"], "question": row["question"]} for row in rows])
    outputs = Outputs.from_rows([{"case_id": row["id"], "model": "m", "answer": row["answer"]} for row in rows])
    run = finished(Workspace(folder), suite, outputs, "pii_leakage")
    lines = [line(index, passes=index < 20 or index % 4 == 0) for index in range(60)]
    lines[45] |= {"passes": False, "question": HOSTILE, "answer": f"{HOSTILE} jane.doe@acme-corp.org"}
    path = write(folder / "a.jsonl", [*lines, b"oops", HOSTILE.encode()])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_WORKSPACE", str(folder))
        reference = reference_of(Workspace(), run.id)
        feed(begun(folder, window="20"), path, reference=reference, hook=["/no/such/hook"])
    return run


@pytest.fixture
def monitored(look_at: Look) -> Run:
    return look_at(monitored_run)


def test_the_status_comes_first_then_counts_chart_and_metrics(monitored: Run, open_page: Open) -> None:
    page = open_page("monitor")
    assert page.subheader[0].value == "✗ Critical: 0.250 (0.045–0.605) pass"
    shown = words(page)
    assert "The pass rate is below 0.7, with at most 5 % risk of a false alarm, however often you look." in shown
    (why,) = [text.help for text in page.text if text.value.startswith("The pass rate is below")]
    assert why.startswith("40 sessions, or lines without one, since sample 21: 0.250 pass, and the pass rate is within")
    for count in ("Lines read: 62", "Sampled: 60", "Unscored: 0", "Sampled before: 0", "Bad lines: 2"):
        assert count in shown
    table = page.dataframe[0].value
    assert table["metric"].tolist() == ["All metrics together", "PII leakage"]
    assert table["health"].tolist() == ["✗ critical", "✗ critical"]
    assert (table["judged"].tolist(), table["units"].tolist()) == ([20, 20], [40, 40])
    assert table["passes"].tolist() == ["every primary metric", "≥ 0.5"]


def test_each_monitor_is_named_and_chosen_on_the_page_itself(look_at: Look, open_page: Open) -> None:
    def two_monitors(folder: Path) -> Run:
        begun(folder, "desk")
        return monitored_run(folder)

    look_at(two_monitors)
    page = open_page("monitor", monitor="desk")
    assert not page.exception
    group = page.main.get("button_group")[0]
    assert [option.content.partition(" ")[0] for option in group.proto.options] == ["chat", "desk"]
    assert [group.proto.options[place].content.partition(" ")[0] for place in group.proto.default] == ["desk"]
    assert labelled(page.main.toggle, "Plain thresholds too").value is False
    assert not page.sidebar.selectbox


def test_other_pass_rates_change_what_the_page_shows(monitored: Run, open_page: Open) -> None:
    page = open_page("monitor")
    assert [box.value for box in page.number_input] == [0.85, 0.7]
    labelled(page.number_input, "Critical below").set_value(0.5).run()
    assert page.subheader[0].value.startswith("▲ Warning: 0.250")
    assert page.query_params["critical"] in ("0.5", ["0.5"])
    table = page.dataframe[0].value
    assert table["health"].tolist() == ["▲ warning", "▲ warning"]
    assert (table["mean"].tolist()[1].strip(), table["mean_interval"].tolist()[1]) == ("0.250", "0.112–0.469")
    assert open_page("monitor", warning="0.04", critical="0.04").subheader[0].value.startswith("✓ Healthy: 0.250")
    assert open_page("monitor", warning="0.5", critical="0.04").subheader[0].value.startswith("○ Not yet sure: 0.250")


def test_the_latest_failures_are_text_with_their_scores(monitored: Run, open_page: Open) -> None:
    page = open_page("monitor")
    rows = page.dataframe[1].value
    assert len(rows) == 30
    assert rows["number"].is_monotonic_decreasing
    hostile = rows[rows["number"] == 45].iloc[0]
    shown = hostile[["question", "failed", "place"]].tolist()
    assert shown == [HOSTILE, "PII leakage 0.00", "a.jsonl, line 46"]
    assert not any("onerror" in each.value for each in page.markdown)


def test_all_failures_are_counted_and_one_opens(monitored: Run, open_page: Open) -> None:
    page = open_page("monitor", sample="45")
    assert "30 failures. Click a row to open it." in words(page)
    assert [code.value for code in page.code] == [HOSTILE, f"{HOSTILE} jane.doe@acme-corp.org"]
    scores = page.dataframe[2].value
    assert scores["verdict"].iloc[0] == "✗ fails"
    assert set(scores["metric"]) >= {"PII leakage · Passes"}
    assert len(open_page("monitor", sample="56").dataframe) == 2, "that one passed"


def test_more_failures_than_are_listed(workspace: Path, tmp_path: Path, open_page: Open) -> None:
    feed(begun(workspace), write(tmp_path / "a.jsonl", [line(index, passes=False) for index in range(60)]))
    assert "60 failures; the latest 50 are listed." in words(open_page("monitor"))


def test_the_demo_is_a_week_that_gets_worse(workspace: Path, open_page: Open) -> None:
    page = open_page("monitor")
    next(button for button in page.button if button.label.startswith("Try it")).click().run()
    assert not page.exception
    assert page.subheader[0].value.startswith("▲ Warning")
    assert page.query_params["monitor"] in ("demo", ["demo"])
    state = monitor(Workspace(), "demo").state
    assert (state.sampled, state.bad) == (560, 0)
    assert "No bad lines: every line read so far could be used." in words(open_page("monitor", view="bad"))
    assert [(change["status"], change["sampled"]) for change in state.changes] == [("healthy", 150), ("warning", 450)]
    assert state.standings[0]["since"] == 160, "the release"


def test_a_window_narrows_them(monitored: Run, open_page: Open) -> None:
    page = open_page("monitor", window="1")
    assert page.dataframe[1].value["number"].between(20, 39).all()
    press(page, "All windows")
    assert len(page.dataframe[1].value) == 30


def test_an_address_made_up_breaks_nothing(monitored: Run, open_page: Open) -> None:
    for window in ("x", "-3", "999999999999999999999999"):
        assert not open_page("monitor", window=window, metric="nope", monitor="nope", view="nope").exception, window


def test_one_metric_of_several(monitored: Run, open_page: Open) -> None:
    page = open_page("monitor", metric="pii_leakage.passes")
    assert "PII leakage, each 20 sampled cases" in words(page)


def test_drift_is_told_with_its_evidence(monitored: Run, open_page: Open) -> None:
    page = open_page("monitor", view="drift")
    table = page.dataframe[1].value
    assert table["verdict"].iloc[0] == "▲ drifted"
    assert (table["n"].iloc[0], table["n_reference"].iloc[0]) == (20, 40)
    assert table["evidence"].iloc[0].startswith("0.750 (")
    assert table["evidence"].iloc[0].endswith(") of scores below 1.00, reference 0.00 (0.00–0.104); since sample 21")
    assert "1 of 1 metric drifted from m in run" in words(page)


def test_changes_of_status_and_what_the_hook_did(monitored: Run, open_page: Open) -> None:
    page = open_page("monitor", view="changes")
    table = page.dataframe[1].value
    assert table["status"].tolist() == ["✗ critical", "▲ warning"]
    assert table["told"].tolist() == ["called"] * 2
    assert "✗ the alert hook /no/such/hook could not be started: No such file or directory" in words(page)


def test_bad_lines_are_listed(monitored: Run, open_page: Open) -> None:
    page = open_page("monitor", view="bad")
    assert page.dataframe[1].value["row"].tolist() == [62, 61]


def test_without_a_reference_it_says_how_to_name_one(workspace: Path, tmp_path: Path, open_page: Open) -> None:
    feed(begun(workspace), write(tmp_path / "a.jsonl", [line(0)]))
    page = open_page("monitor", view="drift")
    assert page.subheader[0].value == "○ Not yet sure: 1.00 (0.00–1.00) pass"
    assert page.code[0].value == "python -m metrics monitor FILE --name chat --reference RUN"


def test_one_that_has_judged_nothing_yet(workspace: Path, open_page: Open) -> None:
    begun(workspace)
    page = open_page("monitor")
    assert page.subheader[0].value == "Nothing judged yet"


def test_no_monitor_teaches_the_command(workspace: Path, open_page: Open) -> None:
    page = open_page("monitor")
    assert page.subheader[0].value == "Nothing is monitored yet"
    assert "python -m metrics monitor --name chat" in page.code[0].value


def test_the_command_it_teaches_is_one(workspace: Path) -> None:
    """Every option of the taught command exists."""
    for text in re.findall(r"metrics (monitor .*)", COMMAND.replace("\\\n", " ")):
        parser().parse_args(shlex.split(text))
    assert json.loads(LINE)["id"] == "r-1"


def test_thresholds_of_models_say_where_they_come_from(workspace, tmp_path, open_page, monkeypatch):
    monkeypatch.setattr(calibrated_thresholds, "shipped", tuple)
    ids = ("groundedness", "answer_relevancy_sentence", "pii_leakage")
    Calibrations(workspace).keep(calibration())
    found = begun(workspace, evaluators={id: {} for id in ids})
    Calibrations(workspace).keep(calibration(threshold=0.6))
    feed(found, write(tmp_path / "a.jsonl", [line(index, contexts=["An old mill."]) for index in range(3)]))
    page = open_page("monitor", metric="groundedness.groundedness")
    shown = words(page)
    assert "No threshold for this model, so neither passed nor failed: Answer relevancy (sentence similarity)" in shown
    assert "Groundedness (likeness): calibrated at 0.6 since: this monitor keeps 0.4, a new one judges by it." in shown
    assert any("Threshold ≥ 0.4, calibrated for this model: AUC 0.700" in (text.help or "") for text in page.text)
