"""Evaluators that follow stored scores: after the others, from what these stored, and nothing is asked again."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrics import engine
from metrics.core.errors import JudgeDown
from metrics.core.suite import Outputs, Suite
from metrics.engine.parts import Parts
from metrics.engine.plan import plan
from metrics.engine.unit_work import Job
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import one_thread, text_outputs, text_suite
from tests.judge.judge_scenes import rag
from tests.judge.server import Fault, JudgeServer, Request

STATISTICS = "consistency_statistics"


def repeated_rag(repeats: int = 3) -> tuple[Suite, Outputs]:
    """Four questions, each answered three times, by answers of one, two and three sentences."""
    suite, outputs = rag(4)
    rows = [
        {**row, "run": run, "answer": " ".join(f"Claim {number} of {row['case_id']}." for number in range(run))}
        for row in outputs.outputs.to_pylist()
        for run in range(1, repeats + 1)
    ]
    return suite, Outputs.from_rows(rows)


def script(server: JudgeServer) -> None:
    """The judge finds a claim in every sentence, and supports only the first."""

    def supported(request: Request) -> list[dict[str, Any]]:
        claims = request.data["CLAIMS"].splitlines()
        return [{"reason": "", "supported_by": [1] if "Claim 0" in claim else []} for claim in claims]

    server.say("claims", lambda request: {"claims": request.data["TEXT"].replace(". ", ".\n").splitlines()})
    server.say("entailment", supported)


def asked(workspace: Path, server: JudgeServer, *evaluators: str, **judge: Any) -> Run:
    settings = {"model": "scripted", "base_url": server.url, "backoff": 0.01, **judge}
    return engine.create(Workspace(workspace), *repeated_rag(), evaluators, resources={"judge": settings})


def test_judged_scores_are_followed_without_asking_again(judge_server, tmp_path):
    script(judge_server)
    alone = engine.execute(asked(tmp_path / "alone", judge_server, "faithfulness"), one_thread)
    requests = len(judge_server.calls)
    both = engine.execute(asked(tmp_path / "both", judge_server, STATISTICS, "faithfulness"), one_thread)
    assert len(judge_server.calls) == 2 * requests > 0
    assert both.spend["calls"] == alone.spend["calls"]
    values = both.scores.query("metric == 'faithfulness'").groupby("case_id")["value"].apply(list)
    assert values.tolist() == [pytest.approx([1, 1 / 2, 1 / 3])] * 4
    expected = {
        "mean": np.mean(values.iloc[0]), "variance": np.var(values.iloc[0]), "range": 2 / 3,
        "standard_deviation": np.std(values.iloc[0]),
        "cv": np.std(values.iloc[0]) / np.mean(values.iloc[0]),
    }  # fmt: skip
    rows = both.aggregates.query(f"evaluator == '{STATISTICS}'").set_index("metric")
    assert set(rows["of"]) == {"faithfulness.faithfulness", "faithfulness.least_supported"}
    for name, value in expected.items():
        assert rows.loc[f"{name}_of_faithfulness", "value"] == pytest.approx(value)
        assert rows.loc[f"{name}_of_faithfulness", "n"] == 4
    own = both.scores.query("metric == 'range_of_faithfulness'")
    assert own["value"].tolist() == [pytest.approx(2 / 3)] * 4


def test_a_repeat_that_failed_is_listed_with_its_reason(judge_server, tmp_path):
    script(judge_server)
    judge_server.fail_by(lambda request: Fault(400) if "Claim 1 of c0." in request.text else None)
    run = engine.execute(asked(tmp_path, judge_server, "faithfulness", STATISTICS, tries=1), one_thread)
    evidence = run.scores.query(f"evaluator == '{STATISTICS}' and case_id == 'c0'")["evidence"].dropna().iloc[0]
    assert '"run 1":1.0' in evidence
    assert "gave no reply" in evidence
    row = run.aggregates.query("metric == 'mean_of_faithfulness'").iloc[0]
    assert (row["n"], row["unscored"]) == (3, 1)


def test_where_the_judge_is_down_what_follows_waits_for_the_resume(judge_server, tmp_path):
    script(judge_server)
    judge_server.fail_by(lambda _: Fault(401))
    run = asked(tmp_path, judge_server, "faithfulness", "rouge", STATISTICS)
    with pytest.raises(JudgeDown):
        engine.execute(run, one_thread)
    done = {unit.evaluator for unit in plan(run) if Parts(run.folder).failed(unit.name) is not None}
    assert done == {"rouge"}
    judge_server.fail_by(lambda _: None)
    engine.execute(run, one_thread)
    found = run.aggregates.query(f"evaluator == '{STATISTICS}'")
    assert {"mean_of_faithfulness", "mean_of_rouge:rougeL"} <= set(found["metric"])
    assert found.query("metric == 'range_of_faithfulness'")["value"].item() == pytest.approx(2 / 3)


class Cancelling(ThreadPoolExecutor):
    """Cancels the run when the first unit comes that follows others; notes how many of the others are done by then."""

    def __init__(self, run: Run):
        super().__init__(1)
        self.run = run
        self.done: list[bool] = []

    def submit(self, function: Any, job: Job, /, *_: object, **__: object) -> Future[Any]:  # type: ignore[override]
        if job.unit.evaluator == STATISTICS:
            others = [unit for unit in plan(self.run) if unit.evaluator != STATISTICS]
            self.done.append(all(Parts(self.run.folder).failed(unit.name) is not None for unit in others))
            engine.cancel(self.run)
        return super().submit(function, job)


def test_they_begin_when_the_others_are_stored_and_can_be_cancelled(workspace):
    run = engine.create(Workspace(), text_suite(), text_outputs(repeats=2), [STATISTICS, "rouge"])
    executor = Cancelling(run)
    engine.execute(run, lambda: executor)
    assert executor.done
    assert all(executor.done)
    assert run.state == "cancelled"
    (run.folder / "cancel").unlink()
    engine.execute(run, one_thread)
    assert run.aggregates.query("metric == 'range_of_rouge:rougeL'")["value"].tolist() == [0.0] * 6


def test_what_follows_is_named_by_whatever_made_the_scores(workspace):
    inputs = Workspace(), text_suite(), text_outputs(repeats=2)

    def names(*evaluators: str, **parameters: Any) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for unit in plan(engine.create(*inputs, evaluators, parameters)):
            found.setdefault(unit.evaluator, set()).add(unit.name)
        return found

    plain, stemmed = names("rouge", STATISTICS), names("rouge", STATISTICS, rouge={"use_stemmer": True})
    assert not plain[STATISTICS] & stemmed[STATISTICS]
    assert plain["rouge"] == names("rouge")["rouge"], "what is followed does not depend on it"
