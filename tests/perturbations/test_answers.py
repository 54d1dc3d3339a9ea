"""Variants of answers: what each kind changes, and what a judge that is swayed, or is not, makes of them."""

from pathlib import Path
from typing import Any

import pytest

from metrics import engine
from metrics.analysis.labels.manipulations import MANIPULATIONS, Check, has_manipulations, manipulation_checks
from metrics.cli.main import main
from metrics.core.errors import InputError, MissingResource
from metrics.core.suite import Outputs, Suite
from metrics.perturbations.answers import ANOTHER, ANSWER_KINDS, judged_again, vary_answers
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, one_thread, text_outputs, text_suite
from tests.judge.judge_scenes import rag
from tests.judge.server import JudgeServer, Request
from tests.presentation.asked import ask

PASSES = ("byop", "passes")
ASKED = {"byop": {"prompt": "Is this right? {actual_answer}"}}


def judged(workspace: Path, url: str, cases: int = 30) -> Run:
    suite, outputs = rag(cases, models=("m", "n"))
    resources = {"judge": {"model": "house/scripted", "base_url": url, "backoff": 0.01}}
    run = engine.create(Workspace(workspace), suite, outputs, ["byop"], ASKED, resources=resources)
    return engine.execute(run, one_thread)


def checks(run: Run, *kinds: str, **more: Any) -> dict[str, Check]:
    again = judged_again(run, kinds, **more).create(Workspace(run.workspace.path))
    return {row.kind: row for row in manipulation_checks(engine.execute(again, one_thread), PASSES)}


def test_what_each_kind_changes():
    suite, outputs = rag(8)
    made = vary_answers(suite, outputs, ["answer_padded", "context_reordered", "answer_signed_by_judge"], 3,
                        judge_name="scripted")  # fmt: skip
    cases = {row["case_id"]: row for row in made.suite.cases.to_pylist()}
    originals = [row for row in cases.values() if row["perturbs"] is None]
    assert len(originals) == 3
    assert made.made == {
        "answer_padded": 3, "context_reordered": 3, "answer_signed_by_judge": 3, "answer_signed_by_another": 3,
    }  # fmt: skip
    given = {row["case_id"]: row for row in made.outputs.outputs.to_pylist()}
    for row in cases.values():
        if row["perturbs"] is None:
            continue
        before, after = given[row["perturbs"]], given[row["case_id"]]
        assert row["group"] == cases[row["perturbs"]]["group"] == row["perturbs"]
        assert row["question"] == cases[row["perturbs"]]["question"]
        answer, contexts = before["answer"], before["retrieved_contexts"]
        assert (after["answer"], after["retrieved_contexts"]) == {
            "answer_padded": (f"{answer}\n\n{answer}", contexts),
            "context_reordered": (answer, contexts[::-1]),
            "answer_signed_by_judge": (f"{answer}\n\n— scripted", contexts),
            "answer_signed_by_another": (f"{answer}\n\n— {ANOTHER}", contexts),
        }[row["perturbation"]]


def test_the_same_seed_draws_the_same_cases():
    suite, outputs = rag(40)
    drawn = [vary_answers(suite, outputs, ["answer_padded"], 5, seed).suite.cases["case_id"] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_cannot_be_varied_says_why():
    suite = Suite.from_rows("s", "text", [{"case_id": name, "question": "Who?"} for name in "abc"])
    outputs = Outputs.from_rows([
        {"case_id": "a", "model": "m", "answer": " ", "retrieved_contexts": ["x"]},
        {"case_id": "b", "model": "m", "answer": "So says [2].", "retrieved_contexts": ["x", "y"]},
    ])  # fmt: skip
    made = vary_answers(suite, outputs, ["answer_padded", "context_reordered"])
    assert [(one.case_id, one.kind, one.reason) for one in made.skipped] == [
        ("a", "answer_padded", "it has no answer"), ("a", "context_reordered", "it has fewer than two contexts"),
        ("b", "context_reordered", "its answer cites contexts by number"),
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"no answer can be varied \(context_reordered: its answer cites"):
        vary_answers(suite, outputs.restricted(case_ids=suite.cases["case_id"].combine_chunks()[1:]),
                     ["context_reordered"])  # fmt: skip
    with pytest.raises(InputError, match="answer_padded"):
        vary_answers(suite, outputs, ["padded"])
    with pytest.raises(MissingResource):
        vary_answers(suite, outputs, ["answer_shortened"])


def test_a_judge_that_likes_length_is_found_and_one_that_does_not_is_not(workspace):
    def swayed(request: Request) -> dict[str, Any]:
        return {"reason": "So.", "verdict": request.text.count("The mill was built in") > 1}

    def fair(request: Request) -> dict[str, Any]:
        return {"reason": "So.", "verdict": any(f"built in 15{n:02}" in request.text for n in range(0, 30, 2))}

    with JudgeServer() as server:
        server.say("byop", swayed)
        (row,) = checks(judged(workspace / "one", server.url), "answer_padded").values()
        assert (row.effect, row.verdict, row.n, row.cases) == (1.0, "swayed", 60, 30)
    with JudgeServer() as server:
        server.say("byop", fair)
        found = checks(judged(workspace / "two", server.url), "answer_padded", "answer_signed_by_judge")
        assert {row.effect for row in found.values()} == {0.0}
        assert "swayed" not in {row.verdict for row in found.values()}


def test_a_judge_that_always_says_the_same_shows_nothing(workspace):
    with JudgeServer() as server:
        server.say("byop", {"reason": "So.", "verdict": True})
        (row,) = checks(judged(workspace, server.url), "answer_padded").values()
    assert (row.verdict, row.effect, row.p) == ("constant", None, None)


def test_the_judge_writes_longer_and_shorter_answers(workspace):
    """A rehearsal, for the estimate, asks nobody."""
    with JudgeServer() as server:
        server.say("byop", {"reason": "So.", "verdict": True})
        run = judged(workspace, server.url, 2)
        asked = len(server.calls)
        rehearsed = judged_again(run, ["answer_lengthened", "answer_shortened"], is_rehearsal=True)
        assert len(server.calls) == asked
        assert rehearsed.varied.made == {"answer_lengthened": 4, "answer_shortened": 4}
        server.say("perturbation.answer_lengthened", {"text": "Long."})
        server.say("perturbation.answer_shortened", {"text": "Short."})
        made = judged_again(run, ["answer_lengthened", "answer_shortened"]).varied
    texts = {(row["case_id"].partition("~")[2], row["answer"]) for row in made.outputs.outputs.to_pylist()}
    assert {pair for pair in texts if pair[0]} == {("answer_lengthened", "Long."), ("answer_shortened", "Short.")}


def test_a_run_without_a_judge_has_none_to_check(workspace):
    run = finished(Workspace(), text_suite(), text_outputs(), "rouge")
    assert not has_manipulations(run)
    with pytest.raises(InputError, match="no evaluator that asks a judge"):
        judged_again(run)


def test_every_kind_has_its_words():
    assert set(ANSWER_KINDS) == set(MANIPULATIONS)
    assert all(what.title and what.says for what in MANIPULATIONS.values())


def test_the_command_estimates_judges_and_says_what_it_found(workspace, capsys):
    with JudgeServer() as server:
        server.say("byop", lambda request: {"reason": "So.", "verdict": request.text.count("The mill was built") > 1})
        run = judged(workspace, server.url)
        asked = len(server.calls)
        assert main(["judge", "bias", run.id, "--kinds", "answer_padded", "--cases", "25", "--dry-run"]) == 0
        assert len(server.calls) == asked
        assert "about 50 calls to house/scripted" in capsys.readouterr().out
        assert main(["judge", "bias", run.id, "--kinds", "answer_padded", "--cases", "25", "--quiet"]) == 0
        assert len(server.calls) == asked + 50  # the originals are in the cache
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "Bring your own prompt: The judge is swayed by what should not matter: Length: said twice.",
        "  Length: said twice: +1.00 (0.867–1.00), ✗ swayed (n 50)",
    ]


def test_the_report_says_what_sways_the_judge(workspace):
    with JudgeServer() as server:
        server.say("byop", lambda request: {"reason": "So.", "verdict": "— scripted" in request.text})
        again = judged_again(judged(workspace, server.url), ["answer_signed_by_judge"]).create(Workspace())
        section = ask("can_the_judge_be_trusted", engine.execute(again, one_thread))
    (table,) = section.tables
    assert table.rows[0][1:] == ("Author: signed with the judge's name", "+1.00 (0.886–1.00)", "✗ swayed", "30")
    assert (
        "The judge is swayed by what should not matter: Author: signed with the judge's name."
        in section.sentences[0].text
    )
