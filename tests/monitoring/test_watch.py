"""A monitor fed from the program itself: one call at a time, in threads and in a running event loop."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from metrics.core.errors import InputError, RunBusy
from metrics.core.suite import Case
from metrics.monitoring import Spec, Watch, check, feed, get_metrics, monitor, trend
from metrics.store import Workspace
from tests.judge.server import JudgeServer, Request
from tests.monitoring.monitor_scenes import begun, line, write

LEVELS = {"1": "excellent", "2": "good", "3": "poor"}  # by the answer's number: 1, .8, .3


def levels(request: Request) -> list[dict[str, str]]:
    return [{"level": LEVELS[request.data["ANSWER"].rpartition(" ")[2]]}]


def test_a_call_is_judged_kept_and_returned(workspace: Path, judge_server: JudgeServer) -> None:
    judge_server.say("rubric.levels", levels)
    judge = {"model": "m", "base_url": judge_server.url}
    found = begun(workspace, evaluators={"rubric": {"zero_if_missing": False}}, resources={"judge": judge}, minimum=3)
    with Watch(found) as watch:
        made = [
            watch.sample_and_evaluate({"id": f"r-{n}", "question": "Why?", "answer": f"{'so ' * 100}{n}"})
            for n in LEVELS
        ]
        assert watch.get_metrics()["sample_count"] == 3
    assert [sample.score for sample in made if sample] == pytest.approx([1.0, 0.8, 0.3])
    assert [sample.passed for sample in made if sample] == [True, True, False]
    first = made[0]
    assert (first.id, first.query, len(first.output_preview or "")) == ("r-1", "Why?", 200)
    assert first.timestamp.endswith("+00:00")
    metrics = get_metrics(monitor(Workspace(), "chat"))
    assert (metrics["status"], metrics["pass_rate"]) == ("insufficient_data", pytest.approx(2 / 3))
    assert (metrics["average_score"], metrics["average_score_interval"][1]) == (pytest.approx(0.7), 1.0)
    assert metrics["status_by"] == "confidence sequence"
    assert (get_metrics(found, plain=True)["status"], get_metrics(found, plain=True)["sample_count"]) == ("critical", 3)
    assert trend(found, ("rubric", "rubric"))["mean"].tolist() == pytest.approx([0.7])


STREAMS = {  # lines that pass or fail, in order
    "steady": [line(index, passes=index % 5 > 0) for index in range(100)],
    "changed": [line(index, passes=index < 300) for index in range(400)],
    "sessions": [
        line(index, passes=index // 4 % 2 > 0, session_id=index // 4, timestamp=f"2026-11-{1 + index // 4:02d}")
        for index in range(90)
    ],
}


@pytest.mark.parametrize(
    ("name", "counted", "judged"), [("steady", 100, 100), ("changed", 100, 400), ("sessions", 88, 90)]
)
def test_the_numbers_are_of_the_same_samples(
    workspace: Path, tmp_path: Path, name: str, counted: int, judged: int
) -> None:
    """Those that the status rests on, or all: of a metric that is 1 where a case passes, the score is the pass rate."""
    found = begun(workspace)
    feed(found, write(tmp_path / "a.jsonl", STREAMS[name]))
    metrics, plain = get_metrics(found), get_metrics(found, plain=True)
    standing = found.state.standings[0]
    assert metrics["sample_count"] == pytest.approx(counted, abs=10 if name == "changed" else 0)
    assert metrics["pass_rate"] == metrics["average_score"] == pytest.approx(standing["rate"])
    assert (metrics["status"], metrics["status_by"]) == (standing["health"], "confidence sequence")
    share = sum("jane" not in each["answer"] for each in STREAMS[name]) / judged
    assert (plain["sample_count"], plain["status_by"]) == (judged, "plain thresholds")
    assert plain["pass_rate"] == plain["average_score"] == pytest.approx(share)
    assert plain["status"] == ("critical" if share < 0.7 else "warning" if share < 0.85 else "healthy")


def test_without_a_sample_there_is_no_status(workspace: Path) -> None:
    for plain in (False, True):
        metrics = get_metrics(begun(workspace, f"chat-{plain}"), plain)
        assert metrics["status"] == "insufficient_data"
        assert (metrics["sample_count"], metrics["pass_rate"], metrics["average_score"]) == (0, None, None)


def test_it_goes_on_where_a_log_was_read(workspace: Path, tmp_path: Path) -> None:
    found = begun(workspace)
    feed(found, write(tmp_path / "a.jsonl", [line(index) for index in range(5)]))
    with Watch(found) as watch:
        assert watch.sample_and_evaluate(line(2)) is None, "it was judged before"
        sample = watch.sample_and_evaluate(Case("c-9", answer="Write to jane.doe@acme-corp.org."))
        assert (sample.id, sample.passed, sample.score) == ("c-9", False, 0.0)
    assert (found.state.sampled, found.state.duplicates, found.state.read) == (6, 1, 7)


def test_it_works_in_a_running_event_loop_and_in_threads(workspace: Path) -> None:
    found = begun(workspace)

    async def serve() -> list[Any]:
        with Watch(found) as watch:
            first = watch.sample_and_evaluate(line(0))
            calls = (asyncio.to_thread(watch.sample_and_evaluate, line(index)) for index in range(1, 8))
            return [first, *await asyncio.gather(*calls)]

    samples = asyncio.run(serve())
    assert sorted(sample.id for sample in samples) == [f"r-{index:05d}" for index in range(8)]
    assert found.state.sampled == 8


def test_what_cannot_be_judged_is_refused_and_counted(workspace: Path) -> None:
    found = begun(workspace)
    with Watch(found) as watch, pytest.raises(InputError, match="calls, row 1"):
        watch.sample_and_evaluate({"id": "r-1", "answer": {"deep": []}, "expected_answers": [[1], {}]})
    assert (found.state.bad, found.state.sampled) == (1, 0)


def test_only_one_process_feeds_a_monitor(workspace: Path) -> None:
    found = begun(workspace)
    with Watch(found), pytest.raises(RunBusy), Watch(found):
        pass


def test_critical_is_at_most_warning() -> None:
    with pytest.raises(InputError, match="pass rates 0 ≤ critical ≤ warning ≤ 1"):
        check(Spec(evaluators={"pii_leakage": {}}, warning=0.5, critical=0.6))


def test_other_limits_are_kept_with_the_monitor(workspace: Path, tmp_path: Path) -> None:
    found = begun(workspace, warning=0.95, critical=0.5)
    feed(found, write(tmp_path / "a.jsonl", [line(index, passes=index % 10 > 0) for index in range(300)]))
    assert found.state.health == "warning"
    assert get_metrics(found)["pass_rate_interval"] == pytest.approx((0.826, 0.950), abs=1e-3)
