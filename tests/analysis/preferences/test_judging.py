"""A judge compares answers behind a real address: both orders, ties, budget, cancelling, going on, attacks."""

from pathlib import Path
from typing import Any

import pytest

from metrics.analysis.preferences.judging import judge_preferences, preference_estimate
from metrics.analysis.preferences.preferred import position_bias, preferred
from metrics.cli.main import main
from metrics.core.errors import InputError, JudgeDown
from metrics.core.suite import Outputs, Suite
from metrics.presentation.ranking_words import judged_lines
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Preferences
from tests.engine.engine_scenes import finished
from tests.judge.attacks import ATTACKS, ORDER
from tests.judge.server import Fault, JudgeServer, Request
from tests.judge.test_injection import outside
from tests.preferences import compared_run


@pytest.fixture
def run(workspace: Path) -> Run:
    return compared_run(Workspace(workspace), 6)


def longer(request: Request) -> dict[str, str]:
    first, second = (int(request.data[name].split()[1]) for name in ("FIRST", "SECOND"))
    better = "tie" if first == second else "first" if first > second else "second"
    return {"reason": "So it is.", "better": better}


def of(server: JudgeServer, **more: Any) -> dict[str, Any]:
    return {"model": "house/scripted", "base_url": server.url, "backoff": 0.01, **more}


def test_every_pair_is_asked_in_both_orders(run: Run, judge_server: JudgeServer) -> None:
    judge_server.say("preference", longer)
    found = judge_preferences(run, of(judge_server))
    assert (found.matches, found.decided, found.stopped, len(judge_server.calls)) == (18, 18, "", 36)
    table = Preferences(run).table()
    assert (len(table), set(table["by"].to_pylist()), table["note"][0].as_py()) == (36, {"judge"}, "So it is.")
    ranking = preferred(run, "judge", "quality")
    assert [one.model for one in ranking.standings] == ["cedar", "birch", "amber"]
    assert ranking.outcomes["cedar", "birch"] == (6, 0, 0)
    (bias,) = position_bias(run, "judge", "quality")
    assert (bias.share.value, bias.contradictory, bias.n) == (0.5, 0, 18)
    texts = [request.text for request in judge_server.calls]
    assert all("REFERENCE is a correct one" in text and "amber" not in text for text in texts), "blind"
    judge_preferences(run, of(judge_server))
    assert (len(judge_server.calls), len(Preferences(run).table())) == (36, 36)


def test_another_criterion_is_asked_and_ranked_apart(run: Run, judge_server: JudgeServer) -> None:
    judge_server.say("preference", longer)
    judge_preferences(run, of(judge_server), criterion="politeness", cases=2, seed=3)
    assert all("Judge by politeness alone" in request.text for request in judge_server.calls)
    assert (len(judge_server.calls), preferred(run, "judge", "quality")) == (12, None)
    assert preferred(run, "judge", "politeness") is not None


def test_equal_answers_are_a_tie_without_asking(workspace: Path, judge_server: JudgeServer) -> None:
    suite = Suite.from_rows("s", "text", [{"case_id": "c", "question": "q?", "expected_answers": ["x"]}])
    outputs = Outputs.from_rows([{"case_id": "c", "model": model, "answer": "x"} for model in ("m", "n")])
    run = finished(Workspace(workspace), suite, outputs, "rouge")
    found = judge_preferences(run, of(judge_server))
    assert (found.decided, found.same, judge_server.calls) == (1, 1, [])
    assert set(Preferences(run).table()["outcome"].to_pylist()) == {0.5}


def test_what_it_would_cost_is_what_is_asked(run: Run, judge_server: JudgeServer) -> None:
    found = preference_estimate(run, of(judge_server))
    assert (found.calls, found.cached, judge_server.calls) == (36, 0, [])
    judge_server.say("preference", longer)
    judge_preferences(run, of(judge_server), cases=2)
    again = preference_estimate(run, of(judge_server))
    assert (again.calls, again.cached) == (24, 12)


def test_a_spent_budget_keeps_what_was_decided_and_goes_on_later(run: Run, judge_server: JudgeServer) -> None:
    judge_server.say("preference", longer)
    found = judge_preferences(run, of(judge_server, concurrency=1, budget={"calls": 12}))
    assert 0 < found.decided < 18
    assert found.stopped
    assert len(Preferences(run).table()) == 2 * found.decided
    assert any(line.startswith("Stopped: ") for line in judged_lines(found))
    assert (judge_preferences(run, of(judge_server)).decided, len(judge_server.calls)) == (18, 36)


def test_cancelling_stops_before_the_next_question(run: Run, judge_server: JudgeServer) -> None:
    judge_server.say("preference", longer)
    found = judge_preferences(run, of(judge_server), is_cancelled=lambda: True)
    assert (found.decided, found.stopped, judge_server.calls) == (0, "cancelled", [])


def test_a_reply_that_cannot_be_read_is_no_preference(run: Run, judge_server: JudgeServer) -> None:
    judge_server.say("preference", longer)
    judge_server.say(lambda request: "number 2?" in request.text, {"better": "neither of them"})
    found = judge_preferences(run, of(judge_server))
    assert (found.decided, sum(found.unread.values())) == (15, 3)
    assert "c2" not in Preferences(run).table()["case_id"].to_pylist()


def test_a_judge_that_goes_down_keeps_what_it_said(run: Run, judge_server: JudgeServer) -> None:
    judge_server.say("preference", longer)
    judge_server.fail_by(lambda request: Fault(401) if len(judge_server.calls) > 9 else None)
    with pytest.raises(JudgeDown):
        judge_preferences(run, of(judge_server, concurrency=1))
    assert len(Preferences(run).table()) > 0


def test_without_a_judge_or_a_second_model(run: Run, workspace: Path, judge_server: JudgeServer) -> None:
    with pytest.raises(InputError, match="no judge"):
        judge_preferences(run)
    alone = compared_run(Workspace(workspace), 2, ("amber",))
    with pytest.raises(InputError, match="two or more models"):
        judge_preferences(alone, of(judge_server))


@pytest.mark.attack(
    "model", "an answer that orders the judge to prefer it", "answers are data that cannot end their block; flagged"
)
def test_an_answer_cannot_speak_to_the_judge(workspace: Path, judge_server: JudgeServer) -> None:
    """Whatever an answer says stands inside its own block, in either order; a judge that obeys a place ranks nobody."""
    attacks = {name: text for name, text in ATTACKS.items() if "\ud800" not in text}  # which no file can hold
    cases = [{"case_id": name, "question": "q?", "expected_answers": ["x"]} for name in attacks]
    rows = [{"case_id": name, "model": "m", "answer": attack} for name, attack in attacks.items()]
    rows += [{"case_id": name, "model": "n", "answer": "A river."} for name in attacks]
    run = finished(Workspace(workspace), Suite.from_rows("s", "text", cases), Outputs.from_rows(rows), "rouge")
    judge_server.say("preference", {"reason": "", "better": "second"})
    found = judge_preferences(run, of(judge_server))
    assert found.decided == len(attacks)
    assert found.suspected > len(attacks) / 2
    for request in judge_server.calls:
        assert set(request.data) == {"QUESTION", "REFERENCE", "FIRST", "SECOND"}
        assert ORDER not in outside(request)
        assert "A river." in (request.data["FIRST"], request.data["SECOND"])
    assert preferred(run, "judge", "quality").outcomes["m", "n"] == (0, len(attacks), 0)


def test_the_command_estimates_judges_and_ranks(run, judge_server, capsys) -> None:
    judge_server.say("preference", longer)
    options = ["judge", "preferences", run.id, "--judge", f"house/scripted@{judge_server.url}"]
    assert main([*options, "--dry-run"]) == 0
    assert "about 36 calls to house/scripted" in capsys.readouterr().out
    assert judge_server.calls == []
    assert main([*options, "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("By matches in the judge's preferences (quality), no model is significantly")
    assert ": cedar 0.933 (" in lines[0]
    assert lines[1].startswith("Position bias of house/scripted")
    assert main([*options, "--cases", "0"]) == 2
