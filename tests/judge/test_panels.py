"""Panels of judges and repeated draws of one: asked over HTTP, combined, their agreement, the most disputed cases."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrics import analysis
from metrics.analysis.labels.panel_agreement import has_panel, panel_agreement
from metrics.cli.main import main, parser as command_line
from metrics.core.errors import InputError
from metrics.core.evaluator import CaseScore
from metrics.core.registry import evaluators
from metrics.engine.evaluation import Evaluation, JudgeFields
from metrics.engine.judge_case import combined
from metrics.judge.settings import settings_of
from metrics.library.judge_choice import judge_settings
from metrics.presentation.panel_rows import panel_table
from metrics.stats import rater_agreement as statistics
from metrics.store import Run
from tests.judge.judge_scenes import judged_run, rag
from tests.judge.server import JudgeServer, Request

NO_ANSWER = {"yes": {"attempted": "yes"}, "no": {"attempted": "no"}}


@pytest.fixture
def servers():
    """Two judges of no_answer: the second differs on cases 0 and 1."""
    with ExitStack() as stack:
        made = [stack.enter_context(JudgeServer()) for _ in range(2)]
        made[0].say("no_answer", lambda request: said(request, "c0"))
        made[1].say("no_answer", lambda request: said(request, "c1"))
        yield made


def said(request: Request, *declined: str) -> dict[str, str]:
    """The verdict of a judge that thinks that some cases of judge_scenes.rag were declined."""
    mills = [f"mill {name[1:]}?" for name in declined]
    return NO_ANSWER["no" if any(mill in request.data["QUESTION"] for mill in mills) else "yes"]


def panel_run(workspace: Path, servers: list[JudgeServer], **more: Any) -> Run:
    first, *others = [{"model": "scripted", "base_url": server.url, "backoff": 0.01} for server in servers]
    return judged_run(workspace, first["base_url"], "no_answer", cases=4, panel=others, **more)


def test_the_agreement_of_a_panel_and_the_cases_that_it_disagrees_on_first(servers, workspace):
    """Verdicts 0111 and 1011: equal on half, κ = (.5 − .625) / (1 − .625) = −1/3; alike (½ + ½ + 1 + 1) / 4."""
    run = panel_run(workspace, servers)
    listed = analysis.cases(run, "no_answer", "no_answer", disputed=True).rows
    assert (listed["case_id"].tolist(), listed["spread"].tolist()) == (["c0", "c1", "c2", "c3"], [1, 1, 0, 0])
    assert "spread" not in analysis.cases(run, "no_answer", "no_answer").rows
    assert has_panel(run)
    (found,) = panel_agreement(run)
    pair = next(row for row in found.raters if row.left)
    assert (pair.kappa.value, pair.equal.value) == (pytest.approx(-1 / 3), 0.5)
    ratings = np.array([[0, 1], [1, 0], [1, 1], [1, 1]], float)
    alpha = statistics.alphas(ratings, np.ones((1, 4)), "nominal")[0]
    assert (found.raters[0].alpha.value, found.alike.value) == (pytest.approx(alpha), 0.75)
    assert (found.disputed, found.n, found.judge) == (2, 4, "")
    assert found.alike.low < 0.75 < found.alike.high
    (row,) = panel_table([found]).to_dict("records")
    assert row["disputed"] == "2 of 4"
    assert row["kappa"].startswith(("−0.333", "-0.333"))


def test_numbers_are_averaged_and_a_judge_that_cannot_be_read_is_left_out_and_named(workspace):
    with JudgeServer() as strict, JudgeServer() as kind, JudgeServer() as muddled:
        for server, supported in ((strict, []), (kind, [1])):
            server.say("claims", {"claims": ["One.", "Two."]})
            server.say("entailment", [{"supported_by": [1]}, {"supported_by": supported}])
        muddled.say("claims", "well …")
        panel = [{"model": "scripted", "base_url": one.url, "tries": 1} for one in (kind, muddled)]
        run = judged_run(workspace, strict.url, "faithfulness", cases=2, panel=panel)
    assert run.scores.query("metric == 'faithfulness'")["value"].tolist() == [0.75, 0.75]
    evidence = json.loads(run.scores["evidence"][0])
    panel_of = evidence["panel"]
    assert [entry["values"] for entry in panel_of["judges"]][:2] == [
        {"faithfulness": 0.5, "least_supported": 0.0}, {"faithfulness": 1.0, "least_supported": 1.0},
    ]  # fmt: skip
    assert (panel_of["spread"], evidence["judge"]["model"].count("scripted at")) == (
        {"faithfulness": 0.5, "least_supported": 1.0}, 3,
    )  # fmt: skip
    assert len(set(run.judgements["judge"])) == 3
    assert panel_of["left_out"] == [f"scripted at {muddled.url[7:-3]}"]
    assert panel_of["notes"][0].startswith(f"without scripted at {muddled.url[7:-3]}: the judge's reply is not JSON")


@pytest.mark.parametrize(("how", "given", "value", "agreement"),
    [("majority", (1, 1, 0), 1, 2 / 3), ("mean", (1, 1, 0), 2 / 3, 2 / 3), ("majority", (0, 0, 0), 0, 1)])  # fmt: skip
def test_one_value_from_several(how, given, value, agreement):
    made = combined(
        evaluators()["no_answer"],
        [(str(place), CaseScore({"no_answer": float(one)})) for place, one in enumerate(given)],
        how,
    )
    assert made.values == {"no_answer": pytest.approx(value)}
    assert made.evidence.panel["agreement"] == {"no_answer": pytest.approx(agreement)}


class TestRepeats:
    def run(self, workspace: Path, server: JudgeServer, **more: Any) -> Run:
        return judged_run(workspace, server.url, "no_answer", cases=4, temperature=0.7, repeats=3, **more)

    def test_each_draw_is_a_request_of_its_own(self, judge_server, workspace):
        run = self.run(workspace, judge_server, seed=5)
        assert len(judge_server.calls) == 12
        assert sorted(request.body["seed"] for request in judge_server.calls) == [5] * 4 + [6] * 4 + [7] * 4
        again = self.run(workspace, judge_server, seed=5)
        assert len(judge_server.calls) == 12, "the draws are in the cache"
        assert run.scores["value"].tolist() == again.scores["value"].tolist()

    def test_the_majority_of_the_draws_counts(self, judge_server, workspace):
        judge_server.say("no_answer", lambda request: said(request, *(["c0"] if request.body["seed"] == 2 else [])))
        run = self.run(workspace, judge_server, seed=1)
        assert run.scores["value"].tolist() == [1.0] * 4
        panel = json.loads(run.scores["evidence"][0])["panel"]
        assert [entry["judge"][-8:] for entry in panel["judges"]] == [", draw 1", ", draw 2", ", draw 3"]
        assert panel["agreement"] == {"no_answer": pytest.approx(2 / 3)}
        (found,) = panel_agreement(run)
        assert found.alike.value == pytest.approx((2 / 3 + 3) / 4)
        assert (found.disputed, found.judge) == (1, f"scripted at {judge_server.url[7:-3]}")
        (row,) = panel_table([found]).to_dict("records")
        assert row["raters"].startswith("draws of scripted at ")

    def test_draws_within_a_panel(self, servers, workspace):
        """The draws of each judge make one score, the judges' scores make one."""
        first, second = servers
        drawn = {"temperature": 0.7, "repeats": 2}
        panel = [{"model": "scripted", "base_url": second.url, **drawn}]
        run = judged_run(workspace, first.url, "no_answer", cases=4, panel=panel, **drawn)
        record = json.loads(run.scores["evidence"][0])["panel"]["judges"][0]
        assert [draw["values"] for draw in record["draws"]] == [{"no_answer": 0.0}] * 2
        assert [one.judge for one in panel_agreement(run)] == ["", *(f"scripted at {s.url[7:-3]}" for s in servers)]

    def test_an_estimate_counts_the_draws(self, judge_server, workspace):
        from metrics.engine import estimate

        suite, outputs = rag(4)
        setting = {"model": "scripted", "base_url": judge_server.url, "temperature": 0.7}
        one, three = (
            estimate(suite, outputs, ["no_answer"], None, {"judge": {**setting, "repeats": count}}, workspace)
            for count in (1, 3)
        )
        assert three.calls == 3 * one.calls == 12
        assert not judge_server.calls

    @pytest.mark.parametrize(("given", "said"), [
        (
            {"model": "m", "repeats": 2},
            "expected a judge with a temperature above 0 for repeats: at 0 every draw is the same",
        ),
        ({"model": "local", "repeats": 2, "temperature": 1}, "the local judge always gives the same verdict"),
    ])  # fmt: skip
    def test_draws_that_cannot_differ_are_refused(self, given, said):
        with pytest.raises(InputError, match=said):
            settings_of(given)


def given(*arguments: str) -> dict[str, Any] | None:
    return judge_settings(Evaluation.of(command_line().parse_args(["evaluate", "suite.csv", *arguments])))


class TestCommand:
    def test_a_panel_on_the_command_line(self):
        assert given(
            "--judge", "gpt-4o-mini", "--judge", "qwen2.5@http://localhost:8000/v1", "--judge", "local",
            "--judge-option", "temperature=0.3", "--judge-option", "2:seed=7", "--judge-option", "1:temperature=0",
            "--judge-concurrency", "4", "--panel", "mean", "--judge-budget", "calls=10",
        ) == {
            "model": "gpt-4o-mini", "concurrency": 4, "temperature": "0", "combine": "mean", "budget": {"calls": 10},
            "panel": [
                {"model": "qwen2.5", "base_url": "http://localhost:8000/v1", "concurrency": 4, "temperature": "0.3",
                 "seed": "7"},
                {"model": "local", "concurrency": 4, "temperature": "0.3"},
            ],
        }  # fmt: skip

    def test_one_judge_is_as_before(self):
        assert given() is None
        assert given("--judge", "m", "--judge-base-url", "http://h/v1") == {"model": "m", "base_url": "http://h/v1"}
        assert given("--judge", "claude@20240229") == {"model": "claude@20240229"}
        assert given("--judge", "m", "--judge-repeats", "3") == {"model": "m", "repeats": 3}

    def test_settings_take_the_options_too(self):
        named = JudgeFields(judge={"model": "m"}, judge_option={"seed": 3}, judge_base_url="http://h/v1")
        assert judge_settings(named, "python") == {"model": "m", "base_url": "http://h/v1", "seed": "3"}

    @pytest.mark.parametrize(("arguments", "expected"), [
        (["--judge", "m", "--judge-option", "2:seed=1"], "the number of a judge, 1 to 1"),
        (["--judge", "m", "--judge-option", "2:sed=1"], "NAME=VALUE or 2:NAME=VALUE"),
        (["--panel", "mean"], "no judge, but options for one"),
    ])  # fmt: skip
    def test_what_is_wrong_is_said(self, arguments, expected):
        with pytest.raises(InputError, match=expected):
            given(*arguments)

    def test_the_agreement_is_printed(self, servers, workspace, tmp_path, capsys):
        suite, outputs = rag(4)
        rows = [
            {"case_id": case["case_id"], "question": case["question"], "model": "m", "answer": output["answer"]}
            for case, output in zip(suite.cases.to_pylist(), outputs.outputs.to_pylist(), strict=True)
        ]
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        judges = [part for server in servers for part in ("--judge", f"scripted@{server.url}")]
        assert main(["evaluate", str(tmp_path / "cases.jsonl"), "--evaluators", "no_answer", *judges]) == 0
        printed = capsys.readouterr().out
        assert "No-answer, " in printed
        assert "2 of 4" in printed
