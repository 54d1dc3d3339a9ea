"""perturb(): the variants of a suite, what they are called and belong to, and those that a judge writes."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from metrics.core.errors import InputError, JudgeDown
from metrics.core.suite import Suite
from metrics.ingest import read_suite
from metrics.perturbations import RULE_KINDS, perturb
from metrics.perturbations.perturb import INTENSITY, SEED
from metrics.suites import write_suite
from metrics.text.conversation import turns
from tests.judge.server import Fault, JudgeServer

CASES: list[dict[str, Any]] = [
    {
        "case_id": "loan", "question": "How large is the fine for a lazy reader?", "expected_answers": ["Two euros"],
        "tags": ["fees"], "weight": 2.0, "reference_contexts": ["The fine is two euros.", "Films cost more."],
        "source_text": "A whole page about big fines.", "area": "desk",
    },
    {"case_id": "sum", "question": "6 × 7?", "expected_answers": ["42"]},
    {"case_id": "none", "source_text": "No question here."},
]  # fmt: skip


def suite(rows: list[dict[str, Any]] = CASES) -> Suite:
    return Suite.from_rows("desk", "text", rows)


def rows_of(made: Suite) -> dict[str, dict[str, Any]]:
    return {row["case_id"]: row for row in made.cases.to_pylist()}


def test_a_variant_has_all_of_its_original_but_what_is_changed():
    made = perturb(suite(), ["copy", "yz"], "high", 3)
    assert made.suite.cases["case_id"].to_pylist() == ["loan", "sum", "none", "loan~copy", "sum~copy", "loan~yz"]
    rows = rows_of(made.suite)
    copy, changed, original = rows["loan~copy"], rows["loan~yz"], rows["loan"]
    own = {"case_id", "perturbs", "perturbation", "tags", INTENSITY, SEED}
    assert {name for name in original if copy[name] != original[name]} == own
    assert {name for name in original if changed[name] != original[name]} == own | {"question"}
    assert changed["question"] == "How large is the fine for a layz reader?"
    assert (changed["perturbs"], changed["perturbation"], changed["tags"]) == ("loan", "yz", ["fees", "yz"])
    assert (changed[INTENSITY], changed[SEED], changed["weight"]) == ("high", "3", 2.0)
    assert made.made == {"copy": 2, "yz": 1}
    assert [(skipped.case_id, skipped.kind, skipped.reason) for skipped in made.skipped] == [
        ("none", "copy", "it has no text in these fields"),
        ("sum", "yz", "nothing in its text can be changed this way"),
        ("none", "yz", "it has no text in these fields"),
    ]


def test_a_family_shares_a_group_so_that_intervals_are_not_too_narrow():
    rows = rows_of(perturb(suite([*CASES, {"case_id": "own", "question": "Why?", "group": "g"}]), ["copy"]).suite)
    groups = {name: row["group"] for name, row in rows.items()}
    assert groups == {
        "loan": "loan", "loan~copy": "loan", "sum": "sum", "sum~copy": "sum", "none": None, "own": "g", "own~copy": "g",
    }  # fmt: skip


def test_the_suite_is_another_one_and_reads_back_as_it_is(tmp_path):
    made = perturb(suite(), RULE_KINDS, seed=1).suite
    assert made.fingerprint != suite().fingerprint
    for kind in ("jsonl", "parquet"):
        write_suite(made, tmp_path / f"made.{kind}")
        assert read_suite(tmp_path / f"made.{kind}").fingerprint == made.fingerprint


def test_contexts_and_sources_are_changed_where_asked():
    rows = rows_of(perturb(suite(), ["antonym"], "high", fields=["contexts", "source"]).suite)
    assert rows["loan~antonym"]["question"] == CASES[0]["question"]
    assert rows["loan~antonym"]["reference_contexts"] == ["The fine is not two euros.", "Films cost less."]
    assert rows["loan~antonym"]["source_text"] != CASES[0]["source_text"]
    assert "sum~antonym" not in rows
    assert rows["none~antonym"]["source_text"] == "Every question here."


def test_variants_are_not_varied_and_ids_never_clash():
    twice = perturb(perturb(suite(), ["copy"]).suite, ["copy"], name="again")
    ids = twice.suite.cases["case_id"].to_pylist()
    assert (ids[-2:], len(ids), len(set(ids)), twice.suite.name) == (["loan~copy~2", "sum~copy~2"], 7, 7, "again")


@settings(max_examples=30)
@given(order=st.permutations(range(6)), size=st.integers(1, 6), seed=st.integers(-5, 5))
def test_neither_order_nor_choice_of_cases_matters(order, size, seed):
    rows = [{"case_id": f"c{n}", "question": f"Why is the {word} big?"} for n, word in enumerate("abcdef")]
    every = rows_of(perturb(suite(rows), ["keyboard", "synonym", "comma"], seed=seed).suite)
    some = rows_of(perturb(suite([rows[n] for n in order[:size]]), ["comma", "keyboard"], seed=seed).suite)
    assert len(some) == 3 * size
    assert all(row["question"] == every[name]["question"] for name, row in some.items())


def test_a_kind_that_changes_nothing_adds_nothing():
    made = perturb(suite([CASES[1]]), ["yz"])
    assert (len(made.suite), made.made, made.suite.cases["group"].to_pylist()) == (1, {"yz": 0}, [None])


def test_everything_wrong_is_told_at_once():
    with pytest.raises(InputError) as caught:
        perturb(Suite.from_rows("dogs", "detection", []), ["copy", "typo"], "huge", fields=[])
    told = str(caught.value).splitlines()
    assert told[0] == "dogs: found a suite of task detection; expected cases with text: text, classification, agent"
    assert told[1].startswith("kinds: found 'typo'; expected one of copy, character, character_delete,")
    assert told[2] == "intensity: found 'huge'; expected one of low, medium, high"
    assert told[3] == "fields: found none; expected one or more of question, contexts, source"


def judged(server: JudgeServer, workspace: Path, kind: str, **options: Any) -> Any:
    judge = {"model": "scripted", "base_url": server.url, "tries": 1}
    return perturb(suite(), [kind], judge=judge, workspace=workspace, **options)


def test_a_judge_paraphrases_once(judge_server, workspace):
    judge_server.say("perturbation.paraphrase.high", lambda request: {"text": f"Reworded: {request.data['TEXT']}"})
    made = judged(judge_server, workspace, "paraphrase", intensity="high")
    assert (rows_of(made.suite)["sum~paraphrase"]["question"], made.made) == ("Reworded: 6 × 7?", {"paraphrase": 2})
    assert "in a wholly different way" in judge_server.calls[0].text
    assert len(judge_server.calls) == 2, "a case without a question is not asked about"
    judged(judge_server, workspace, "paraphrase", intensity="high")
    assert len(judge_server.calls) == 2, "the cache answers"
    judged(judge_server, workspace, "paraphrase", intensity="high", seed=1)
    assert len(judge_server.calls) == 4, "another seed is another draw"


def test_misinformation_goes_before_the_question_and_against_the_truth(judge_server, workspace):
    judge_server.say("perturbation.contextual_misinformation.medium", {"text": "Fines were abolished."})
    made = judged(judge_server, workspace, "contextual_misinformation")
    variant = rows_of(made.suite)["loan~contextual_misinformation"]
    assert variant["question"] == f"Fines were abolished. {CASES[0]['question']}"
    assert (variant["expected_answers"], judge_server.calls[0].data["TRUTH"]) == (["Two euros"], "[1] Two euros")


def test_what_a_judge_does_not_write_has_no_variant(judge_server, workspace):
    judge_server.say(
        "perturbation.paraphrase.medium",
        lambda request: {"text": request.data["TEXT"]} if "×" in request.data["TEXT"] else {"text": ""},
    )
    made = judged(judge_server, workspace, "paraphrase")
    assert made.made == {"paraphrase": 0}
    reasons = {skipped.case_id: skipped.reason for skipped in made.skipped}
    assert reasons["sum"] == "the judge returned its text unchanged"
    assert reasons["loan"].startswith("the judge returned no text: the judge's reply does not fit: text: ")


def test_a_spent_budget_leaves_cases_and_a_dead_judge_stops(judge_server, workspace):
    judge_server.say("perturbation.paraphrase.medium", {"text": "Other words."})
    judge = {"model": "scripted", "base_url": judge_server.url, "budget": {"calls": 1}}
    made = perturb(suite(), ["paraphrase"], judge=judge, workspace=workspace)
    assert made.made == {"paraphrase": 1}
    assert "budget" in made.skipped[0].reason
    judge_server.fail_by(lambda _: Fault(401))
    with pytest.raises(JudgeDown):
        judged(judge_server, workspace, "contextual_misinformation")


TALK = "user: Why is the fine so big?\nagent: The user did not pay the big fine.\nuser: Is a small film cheap?"


@pytest.mark.parametrize("kind", RULE_KINDS)
def test_of_a_conversation_only_the_last_turn_of_the_user_changes(kind):
    before = TALK.rpartition("user: ")[0]
    made = perturb(suite([{"case_id": "c", "question": TALK}]), [kind], "high")
    for row in rows_of(made.suite).values():
        assert row["question"].startswith(f"{before}user: ")
        assert (row["question"] == TALK) == (row["perturbation"] in (None, "copy"))
    assert made.made == {kind: 1} or kind == "yz"  # it has neither letter


def test_no_role_is_changed_in_real_conversations(shared):
    talks = read_suite(shared / "data" / "mtrag" / "suite.csv")
    rows = rows_of(perturb(talks, ["keyboard", "ocr", "word_swap"], "high").suite)
    earlier = {name: turns(row["question"])[:-1] for name, row in rows.items()}
    variants = [row for row in rows.values() if row["perturbs"]]
    assert len(variants) > 3 * 150
    assert all(earlier[row["case_id"]] == earlier[row["perturbs"]] for row in variants)
    assert sum(bool(each) for each in earlier.values()) > 3 * 100


def test_a_judge_is_shown_the_last_turn_alone(judge_server, workspace):
    judge_server.say("perturbation.contextual_misinformation.medium", {"text": "Films are banned."})
    talk = suite([{"case_id": "c", "question": TALK}])
    judge = {"model": "scripted", "base_url": judge_server.url, "tries": 1}
    made = perturb(talk, ["contextual_misinformation"], judge=judge, workspace=workspace)
    assert judge_server.calls[0].data["TEXT"] == "Is a small film cheap?"
    question = rows_of(made.suite)["c~contextual_misinformation"]["question"]
    assert question.endswith("\nuser: Films are banned. Is a small film cheap?")
