"""Same board, however models arrive: evaluated in several runs, in any order, they stand as if one run had them all."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from metrics.analysis import compare, headline, insights, leaderboard, problems, resources
from metrics.analysis.boards.board import open_run
from metrics.core.presets import RUN_CODE
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.reports.build import build
from metrics.reports.section_names import SECTIONS
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.judge.judge_scenes import rag
from tests.judge.server import JudgeServer
from tests.laws.doors import DATA, Data
from tests.laws.running import replying, supports

MOST_CHOSEN = 8  # evaluators of a suite
JUDGED = ("faithfulness", "answer_correctness")
WORDS = ("the", "cat", "sat", "on", "a", "mat", "dog")


def survey(random: Random, models: tuple[str, ...] = ("alpha", "beta", "007"), size: int = 40) -> Data:
    """Return questions that models answer more or less well, some of them not at all, grouped and tagged."""
    answers = [" ".join(random.choices(WORDS, k=random.randint(1, 5))) for _ in range(size)]
    cases = tuple(
        {"case_id": f"c{place}", "question": f"what is {place}", "expected_answers": [text],
         "tags": ["odd"] if place % 2 else ["even"], "group": f"g{place // 2}"}
        for place, text in enumerate(answers)
    )  # fmt: skip
    outputs = tuple(
        {"case_id": case["case_id"], "model": model, "run": 1, "duration_s": random.random(),
         "answer": text if random.random() < skill else " ".join(random.choices(WORDS, k=3))}
        for model, skill in zip(models, (0.2, 0.5, 0.9), strict=False)
        for case, text in zip(cases, answers, strict=True)
        if random.random() < 0.95
    )  # fmt: skip
    return Data("text", cases, outputs)


KINDS = {"survey": survey, **DATA}


def evaluators_for(suite: Suite, random: Random) -> list[str]:
    """Return some evaluators of a task that ask no model and run no code, and what it is judged by first."""
    every = [
        one for one in evaluators().values() if suite.task in one.tasks and not one.needs and one.id not in RUN_CODE
    ]
    first = [one.id for one in every if one.stand == "first"][:2]
    return list(dict.fromkeys([*first, *random.sample([one.id for one in every], min(MOST_CHOSEN, len(every)))]))


def findings(run: Run) -> dict[str, Any]:
    """Return what a run shows, but for its name, its time and where its numbers are stored."""
    board = leaderboard(run)
    first, second = run.models[:2]
    report = build(run, SECTIONS)
    return {
        "board": board,
        "of a tag": [leaderboard(run, tag) for tag in board.tags],
        "headline": headline(board),
        "problems": problems(run).to_dict("records"),
        "insights": insights(run).to_dict("records"),
        "comparison": replace(compare(run, first, second), run_a="", run_b=""),
        "resources": resources(run),
        "report": replace(report, run="", created="", title="", facts=()),
    }


def differing(wanted: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return what differs, in words."""
    return [name for name in wanted if repr(wanted[name]) != repr(found[name])]


@pytest.mark.parametrize(("kind", "is_reversed"), [("survey", False), *((kind, True) for kind in KINDS)])
def test_models_of_several_runs_stand_as_in_one(tmp_path: Path, kind: str, is_reversed: bool) -> None:
    suite, outputs = KINDS[kind](Random(7)).tables()
    chosen = evaluators_for(suite, Random(kind))
    order = outputs.models[::-1] if is_reversed else outputs.models
    apart, whole = Workspace(tmp_path / "apart"), Workspace(tmp_path / "whole")
    for model in order:
        finished(apart, suite, outputs.restricted(model), *chosen)
    finished(whole, suite, _ordered(outputs, order), *chosen)
    assert differing(findings(open_run(whole, "latest")), findings(open_run(apart, "board"))) == []


def _ordered(outputs: Outputs, models: tuple[str, ...]) -> Outputs:
    parts = [outputs.restricted(model) for model in models]
    objects = [one.predictions for one in parts if one.predictions is not None]
    return replace(
        outputs,
        outputs=pa.concat_tables(one.outputs for one in parts),
        predictions=pa.concat_tables(objects) if objects else None,
    )


def test_judged_models_of_several_runs_stand_as_in_one(tmp_path: Path, judge_server: JudgeServer) -> None:
    judge_server.say(lambda _: True, replying)
    judge_server.say("entailment", supports)
    suite, outputs = rag(models=("m", "n", "o"))
    judged = {"resources": {"judge": {"model": "scripted", "base_url": judge_server.url, "backoff": 0.01}}}
    apart, whole = Workspace(tmp_path / "apart"), Workspace(tmp_path / "whole")
    for model in outputs.models:
        finished(apart, suite, outputs.restricted(model), *JUDGED, **judged)
    asked = len(judge_server.calls)
    finished(whole, suite, outputs, *JUDGED, **judged)
    assert len(judge_server.calls) == 2 * asked
    alone, joined = (findings(open_run(one, address)) for one, address in ((whole, "latest"), (apart, "board")))
    assert differing(alone, joined) == []
