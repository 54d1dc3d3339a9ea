"""Cases and units that take too long become errors with the reason; the others keep their values."""

import asyncio
import math
from collections import Counter
from concurrent.futures import Executor, Future

import pytest

from metrics import engine
from metrics.core.errors import InputError
from metrics.core.registry import choose
from metrics.core.suite import Case
from metrics.engine import deadlines, judge_case, score_cases as scoring
from metrics.engine.deadlines import Limits, checked_timeout, default_timeout
from metrics.engine.execute import MOST_LATE
from metrics.engine.load_resources import Resources
from metrics.engine.plan import plan
from metrics.engine.schedulers import UnitLate
from metrics.engine.unit_work import Job, perform
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.library.plugin_scenes import command

PLUGIN = '''
import time

from metrics import Case, CaseScore, Example, Metric, Parameters, evaluator


@evaluator(
    id="endless", title="Endless", inputs=("answer",), metrics=(Metric.lower("words", "Words.", high=99.0),),
    examples=(Example("short", {"answer": "Paris"}, {"words": 1.0}),),
)
def endless(case: Case, parameters: Parameters) -> CaseScore:
    """Count words, and never come to an end for one answer."""
    while case.answer == "never":
        time.sleep(600)
    return CaseScore({"words": float(len(case.answer.split()))})
'''


@pytest.mark.parametrize(("evaluator", "rows", "timeout", "expected"), [
    pytest.param("json_schema", 2_000, 300, (300, 86_400), id="a-case"),
    pytest.param("rouge", 2_000, 300, (6_300, 86_400), id="a-batch"),
    pytest.param("rouge", 10**6, 300, (86_400, 86_400), id="a-large-data-set-has-a-day"),
    pytest.param("answer_semantic_similarity", 2_000, 300, (63_000, 86_400), id="with-a-local-model"),
    pytest.param("rouge", 10**6, 0, (math.inf, math.inf), id="no-limit"),
])  # fmt: skip
def test_the_time_grows_with_the_work(evaluator, rows, timeout, expected):
    entry, parameters = choose([evaluator])[evaluator]
    limits = Limits.of(entry, parameters, rows, timeout)
    assert (limits.case if entry.shape == "case" else limits.whole, limits.longest) == expected


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("0.5", 0.5), ("0", 0), ("none", 0), ("None", 0)])
def test_a_timeout_is_seconds_or_none(monkeypatch, text, seconds):
    assert checked_timeout(text) == seconds
    monkeypatch.setenv(deadlines.ENVIRONMENT, text)
    assert default_timeout() == seconds


@pytest.mark.parametrize("text", ["-1", "soon", "nan", "inf", ""])
def test_any_other_timeout_is_refused(text):
    with pytest.raises(InputError, match="seconds, 0 or more"):
        checked_timeout(text)


class Watched(Executor):
    """An executor in this process, whose worker is ended at some places of one unit unless they are left out."""

    def __init__(self, victim: str, places: list[int | None]):
        self.victim, self.places = victim, places
        self.asked: Counter[str] = Counter()

    def submit(self, function, job: Job, /, *_: object, **__: object) -> Future:  # type: ignore[no-untyped-def,type-arg,override]
        future: Future = Future()  # type: ignore[type-arg]
        self.asked[job.unit.name] += 1
        left = [place for place in self.places if place not in job.late]
        if job.unit.name == self.victim and left:
            future.set_exception(UnitLate(left[0], 5.0))
        else:
            future.set_result(function(job))
        return future


CASE = "scoring this case took longer than 5 s; --case-timeout sets the limit"
UNIT = "scoring the cases of its unit took longer than 5 s; --case-timeout sets the limit"
REST = "not scored, as 10 other cases of its unit took too long; --case-timeout sets the limit"


@pytest.mark.parametrize(("size", "places", "reasons", "tries"), [
    pytest.param(6, [4, 1], {CASE: 2, "": 4}, 3, id="some cases"),
    pytest.param(6, [None], {UNIT: 6}, 2, id="the unit as a whole, and case by case"),
    pytest.param(20, [*range(20)], {CASE: MOST_LATE, REST: 10}, MOST_LATE, id="too many cases"),
])  # fmt: skip
def test_what_is_late_is_an_error_and_all_else_keeps_its_value(workspace, size, places, reasons, tries):
    run = engine.create(Workspace(), text_suite(size), text_outputs(size), ["rouge", "bleu"])
    executor = Watched(plan(run)[0].name, places)
    engine.execute(run, lambda: executor)
    assert run.state == "finished"
    scores = run.scores
    groups = scores[scores.metric.isin(["rougeL", "bleu4"])].groupby(["evaluator", "model"])
    found = {" ".join(key): dict(Counter(group["reason"].fillna(""))) for key, group in groups}
    well = {"": size}
    assert found == {"rouge good": reasons, "rouge poor": well, "bleu good": well, "bleu poor": well}
    assert sorted(executor.asked.values()) == [1, 1, 1, tries], "no other unit is done again"
    plain = finished(Workspace(), text_suite(size), text_outputs(size), "rouge", "bleu").scores
    assert scores[scores.status == "ok"].equals(plain[scores.status == "ok"])


def test_every_case_is_announced_by_its_place_in_the_unit(workspace):
    rows = [{"case_id": f"c{number}", "model": "m", "answer": None if number == 1 else "{}"} for number in range(4)]
    rows[2]["error"] = "no answer"
    outputs = type(text_outputs()).from_rows(rows)
    run = engine.create(Workspace(), text_suite(4), outputs, ["json_schema"], case_timeout=7)
    told: list[tuple[int | None, float]] = []
    deadlines.watched_by(lambda place, seconds: told.append((place, seconds)))
    try:
        perform(Job.of(run, plan(run)[0]))
    finally:
        deadlines.watched_by(None)
    assert [one for one in told if one[0] is not None] == [(0, 7.0), (1, 7.0), (3, 7.0)]
    assert {seconds for place, seconds in told if place is None} == {7.0 * deadlines.MAX_TIMES_LIMIT}


@pytest.mark.attack("suite author", "a case keeps an evaluator busy for ever", "the case is an error after its time")
def test_an_endless_case_costs_its_time_and_its_own_value(tmp_path):
    (tmp_path / "endless.py").write_text(PLUGIN)
    (tmp_path / "suite.csv").write_text("case_id,question\n1,a\n2,b\n3,c\n")
    (tmp_path / "outputs.csv").write_text("case_id,model,answer\n1,m,one word\n2,m,never\n3,m,x\n1,n,x\n2,n,x\n3,n,x\n")
    made = command(
        tmp_path, "evaluate", "suite.csv", "outputs.csv", "--evaluators", "endless", "--plugin", "endless.py:endless",
        "--case-timeout", "10", "--quiet",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    run = Workspace(tmp_path / "workspace").runs()[0]
    assert (run.spec.case_timeout, run.scores["value"].fillna(-1).tolist()) == (10, [2, -1, 1, 1, 1, 1])
    reasons = run.scores["reason"].dropna().tolist()
    assert reasons == ["scoring this case took longer than 10 s; --case-timeout sets the limit"]


@pytest.mark.attack("judge", "replies come so slowly that a case never ends", "a judged case has a deadline")
def test_a_judged_case_has_a_deadline(monkeypatch, tmp_path):
    async def never(*_: object) -> judge_case.ScoredCase:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(scoring, "judge_case", never)
    entry, parameters = choose(["json_schema"])["json_schema"]
    cases = [Case("c", answer="{}", model="m")]
    (made,) = asyncio.run(
        scoring.judge_cases(entry, parameters, cases, Resources({}, tmp_path), timeout=0.01 / deadlines.MAX_TIMES_LIMIT)
    )
    assert made.score.reason == "scoring this case took longer than 0.01 s; --case-timeout sets the limit"
