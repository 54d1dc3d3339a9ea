"""UMBRELA, AutoNuggetizer and citations: worked numbers, and what becomes of them when a reply goes wrong."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, strategies as st

from metrics import engine
from metrics.core.errors import InputError
from metrics.core.evaluator import CaseScore, Status
from metrics.core.evidence import Verdict
from metrics.core.prompt import Prompt
from metrics.core.registry import choose
from metrics.core.suite import Case, Outputs, Suite
from metrics.evaluators.retrieval.autonuggetizer import NO_INFORMATION, NuggetParameters, nugget_scores
from metrics.judge.grading import GRADE, STRUCTURED
from tests.evaluators.asked import ask, steps
from tests.judge.judging import judged
from tests.judge.scripted import ScriptedJudge, answers
from tests.judge.server import Fault, JudgeServer, Request, items_of


def grading(request: Request) -> Any:
    """A passage that says "grade 2" is graded 2; one that says "unreadable" is answered with something else."""
    text = request.data["PASSAGE"]
    if "unreadable" in text:
        return {"grade": "two"}
    grade = int(text.partition("grade ")[2][:1])
    return {"intent": "why", "match": grade, "trust": 3, "grade": grade}


def graded(*grades: int | None) -> dict[str, Any]:
    passages = [f"{number}: unreadable" if grade is None else f"{number}: grade {grade}" for number, grade in
                enumerate(grades, 1)]  # fmt: skip
    return {"question": "Why?", "answer": "So.", "retrieved_contexts": passages}


class TestUmbrela:
    @pytest.mark.parametrize(("grades", "expected"), [
        pytest.param((3, 0, 2, 1, 2), {"umbrela": 1.6, "precision_at_1": 1, "precision_at_3": 2 / 3,
            "precision_at_5": 0.6, "average_precision_at_1": 1, "average_precision_at_3": 0.833333,
            "average_precision_at_5": 0.755556, "mrr": 1}, id="cases.md 7"),
        pytest.param((0, 0, 0), {"umbrela": 0, "precision_at_3": 0, "average_precision_at_3": 0, "mrr": 0,
            "precision_at_5": 0, "average_precision_at_5": 0}, id="none relevant"),
        pytest.param((3, 0, 2), {"precision_at_3": 2 / 3, "precision_at_5": 2 / 5, "average_precision_at_5": 5 / 6},
            id="fewer than k: the relevant ones divided by k"),
        pytest.param((3, None), {"precision_at_1": 1, "precision_at_3": None}, id="fewer than k, one of them lost"),
        pytest.param((1, 1, 1, 1, 1, 3), {"precision_at_5": 0, "mrr": 1 / 6}, id="the first one lies beyond five"),
        pytest.param((3,), {"umbrela": 3, "precision_at_1": 1, "precision_at_3": 1 / 3, "mrr": 1}, id="one passage"),
        pytest.param((3, None, 0),
            {"umbrela": 1.5, "precision_at_1": 1, "precision_at_3": None, "average_precision_at_3": None, "mrr": 1},
            id="a lost passage behind the first relevant one"),
        pytest.param((0, None, 3), {"umbrela": 1.5, "precision_at_1": 0, "mrr": None}, id="and before it"),
        pytest.param((0, 0, 0, 0, 2, None), {"precision_at_5": 0.2, "mrr": 0.2}, id="and beyond five"),
        pytest.param((0, None), {"umbrela": 0, "mrr": None}, id="it might have been the relevant one"),
        pytest.param((None, None), {"umbrela": None, "precision_at_1": None, "mrr": None}, id="all lost"),
    ])  # fmt: skip
    def test_numbers(self, grades: tuple[int | None, ...], expected: dict[str, float | None]) -> None:
        score, judge = ask("umbrela", graded(*grades), {"umbrela.grade": grading})
        assert {name: score.values[name] for name in expected} == pytest.approx(expected, abs=1e-6)
        assert score.status is (Status.PARSE_FAILURE if None in grades else Status.OK)
        assert len(judge.calls) == len(grades), "one judgement a passage"

    def test_precision_is_measured_at_the_chosen_ranks(self) -> None:
        score, _ = ask("umbrela", graded(3, 0, 2, 0), {"umbrela.grade": grading}, k_values=[4, 2, 2])
        entry, _ = choose(["umbrela"], {"umbrela": {"k_values": [4, 2, 2]}})["umbrela"]
        names = [f"{kind}_at_{k}" for kind in ("precision", "average_precision") for k in (2, 4)]
        assert [metric.name for metric in entry.metrics] == ["umbrela", *names, "mrr"]
        assert [score.values[name] for name in names] == pytest.approx([1 / 2, 1 / 2, 1, 5 / 6])
        assert set(score.values) == {metric.name for metric in entry.metrics}
        with pytest.raises(InputError, match=r"umbrela.k_values.0: found 0"):
            choose(["umbrela"], {"umbrela": {"k_values": [0]}})

    @pytest.mark.parametrize(("judge", "wanted", "edited", "asked"), [
        ("gpt-4o-mini", "auto", (), "umbrela.grade"),
        ("openai/gpt-oss-120b", "auto", (), "umbrela.grade_structured"),
        ("Qwen2.5-7B at localhost:8000", "auto", (), "umbrela.grade_structured"),
        ("qwen3", "auto", ("umbrela.grade",), "umbrela.grade"),
        ("qwen3", "standard", (), "umbrela.grade"),
        ("gpt-4o-mini", "structured", ("umbrela.grade",), "umbrela.grade_structured"),
    ])  # fmt: skip
    @pytest.mark.parametrize("evaluator", ["umbrela", "autonuggetizer"])
    def test_the_wording_follows_from_the_judge_unless_it_is_chosen(self, evaluator, judge, wanted, edited, asked):
        entry, chosen = choose([evaluator], {evaluator: {"prompt": wanted}})[evaluator]
        scripted = ScriptedJudge(answers({"umbrela.grade": grading, "umbrela.grade_structured": grading}))
        scripted.name, scripted.edited = judge, frozenset(edited)
        score: CaseScore = asyncio.run(entry(Case.of(**graded(0) | {"answer": " "}), chosen, judge=scripted))
        assert (steps(scripted), score.evidence.facts["prompt"]) == ([asked.replace(".", "_")], asked)

    @pytest.mark.parametrize("prompt", [GRADE, STRUCTURED], ids=lambda prompt: prompt.id)
    def test_both_wordings_ask_for_intent_match_trust_and_grade(self, prompt: Prompt) -> None:
        text = prompt.text.lower()
        steps = [
            text.index(word) for word in ("intent", "match", "trust", "grade:" if prompt is STRUCTURED else "0 has")
        ]
        assert steps == sorted(steps)
        for meaning in ("nothing to do with", "does not answer it", "in part, unclearly", "exact answer", "0 to 3"):
            assert meaning in text

    def test_the_reason_says_what_is_missing_and_why(self) -> None:
        score, _ = ask("umbrela", graded(3, None, 0), {"umbrela.grade": grading})
        assert (score.reason or "").startswith("passage 2 could not be graded (the judge's reply does not fit: ")
        score, _ = ask("umbrela", graded(3), {"umbrela.grade": grading})
        assert (score.status, score.reason) == (Status.OK, None)

    def test_the_evidence_has_each_passage(self) -> None:
        score, _ = ask("umbrela", graded(3, None), {"umbrela.grade": grading})
        first, second = score.evidence.verdicts["passages"]
        facts = {"intent": "why", "match": 3, "trust": 3}
        assert first == Verdict("Context 1", "yes", "grade 3", rests_on=(("contexts", 1),), facts=facts)
        assert (second.text, second.holds, second.label) == ("Context 2", "unknown", "unreadable")
        assert "grade: Input should be 3, 2, 1 or 0" in second.reason

    def test_what_is_relevant_can_be_chosen(self) -> None:
        score, _ = ask("umbrela", graded(1, 0, 2), {"umbrela.grade": grading}, relevant_grade=1)
        assert (score.values["precision_at_1"], score.values["precision_at_3"]) == (1, pytest.approx(2 / 3))
        assert [passage.holds for passage in score.evidence.verdicts["passages"]] == ["yes", "no", "yes"]

    def test_over_http_a_passage_that_the_provider_refuses_loses_itself_alone(self, judge_server: JudgeServer) -> None:
        judge_server.say("umbrela.grade", grading)
        judge_server.fail_by(lambda request: Fault(400) if "2: grade" in request.text else None)
        score = judged("umbrela", Case.of(**graded(3, 3, 0)), judge_server)
        assert (score.values["umbrela"], score.values["precision_at_1"], score.values["mrr"]) == (1.5, 1, 1)
        assert (score.status, score.values["precision_at_3"]) == (Status.ERROR, None)
        assert (score.reason or "").startswith("passage 2 could not be graded (the judge scripted")

    @given(st.lists(st.integers(0, 3), min_size=5, max_size=12))
    def test_a_better_grade_never_costs(self, grades: list[int]) -> None:
        before, _ = ask("umbrela", graded(*grades), {"umbrela.grade": grading})
        after, _ = ask("umbrela", graded(3, *grades[1:]), {"umbrela.grade": grading})
        for name, value in before.values.items():
            if not name.startswith("average"):  # a relevant passage more in front raises precision, not every mean
                assert (after.values[name] or 0) >= (value or 0)


VITAL, OKAY = True, False
FULL, PART, NOT = "support", "partial_support", "not_support"


class TestNuggetScores:
    @pytest.mark.parametrize(("nuggets", "lenient", "strict"), [
        pytest.param([(VITAL, FULL), (VITAL, PART), (VITAL, NOT), (OKAY, FULL), (OKAY, PART)], (0.6, 0.5, 0.5625),
            (0.4, 1 / 3, 0.375), id="cases.md 8"),
        pytest.param([(VITAL, FULL), (VITAL, FULL)], (1, 1, 1), (1, 1, 1), id="two vital ones alone"),
        pytest.param([(OKAY, FULL)], (1, None, 1), (1, None, 1), id="an okay one alone"),
        pytest.param([(VITAL, NOT), (OKAY, FULL)], (0.5, 0, 1 / 3), (0.5, 0, 1 / 3), id="okay counts half"),
        pytest.param([(VITAL, PART)], (0.5, 0.5, 0.5), (0, 0, 0), id="strict knows no half"),
    ])  # fmt: skip
    def test_by_hand(self, nuggets, lenient, strict):
        found = nugget_scores(nuggets, NuggetParameters())
        assert [found[name] for name in ("all", "vital", "weighted")] == pytest.approx(lenient, abs=1e-6)
        assert [found[f"{name}_strict"] for name in ("all", "vital", "weighted")] == pytest.approx(strict, abs=1e-6)


class TestAutoNuggetizer:
    SCRIPT: Mapping[str, Any] = {
        "umbrela.grade": grading,
        "autonuggetizer.importance": lambda request: [
            {"importance": "vital" if "vital" in line else "okay"} for line in request.data["NUGGETS"].splitlines()
        ],
        "autonuggetizer.assignment": lambda request: [{"assignment": "support"}] * items_of(request, "NUGGETS"),
    }

    def ask(self, nuggets: Any, grades: tuple[int | None, ...] = (3,), **given: Any) -> tuple[CaseScore, Any]:
        return ask("autonuggetizer", graded(*grades) | given, {**self.SCRIPT, "autonuggetizer.nuggets": nuggets})

    def test_passages_of_grade_1_are_walked_in_windows_of_ten_with_the_list_so_far(self) -> None:
        rounds = iter([["a"], ["a", "b"], ["b", "c"]])
        _, judge = self.ask(lambda _: {"nuggets": next(rounds)}, (*[1] * 5, 0, None, *[3] * 16))
        asked = [request for request in judge.calls if request.step == "autonuggetizer_nuggets"]
        assert [items_of(request, "PASSAGES") for request in asked] == [10, 10, 1]
        assert [request.data["NUGGETS"] for request in asked] == ["(none yet)", "[1] a", "[1] a\n[2] b"]
        shown = "".join(request.data["PASSAGES"] for request in asked)
        assert "6: grade 0" not in shown
        assert "unreadable" not in shown
        assert all(shown.count(f"] {number}: grade") == 1 for number in (8, 15, 23))

    @pytest.mark.parametrize(("lists", "before"), [
        (["a", "a b", "a b"], ["(none yet)", "a", "a b"]),
        (["a", "b", "c", "d", "e", "f"], ["(none yet)", "a", "b", "c", "d"]),
        ([""], ["(none yet)"]),
    ], ids=["until the list does not change", "at most five rounds", "nothing to refine"])  # fmt: skip
    def test_over_http_the_list_is_refined_over_all_passages(self, judge_server, lists, before):
        rounds = iter(lists)
        script = {**self.SCRIPT, "autonuggetizer.nuggets": lambda _: {"nuggets": next(rounds).split()}}
        for step, reply in script.items():
            judge_server.say(step, reply)
        score = judged("autonuggetizer", Case.of(**graded(*[1] * 12, 0)), judge_server, refine=True)
        asked = [request for request in judge_server.calls if request.step == "autonuggetizer_nuggets"]
        assert [items_of(request, "PASSAGES") for request in asked] == [12] * len(before)
        listed = [request.data["NUGGETS"] for request in asked]
        assert [text.replace("\n", " ") for text in listed] == [
            text if text == "(none yet)" else " ".join(f"[{n}] {own}" for n, own in enumerate(text.split(), 1))
            for text in before
        ]
        facts = score.evidence.facts
        assert (facts["rounds"], facts["passages_left_out"]) == (len(before), 0)

    def test_the_estimate_counts_every_round(self, judge_server: JudgeServer, workspace: Any) -> None:
        case = {"case_id": "1", "question": "Why?"}
        outputs = Outputs.from_rows([{"case_id": "1", "model": "m", "answer": "So.", "retrieved_contexts": ["Ulm."]}])
        judge = {"judge": {"model": "scripted", "base_url": judge_server.url}}

        def calls(**parameters: Any) -> int:
            found = engine.estimate(Suite.from_rows("s", "text", [case]), outputs, ["autonuggetizer"],
                                    {"autonuggetizer": parameters}, judge, workspace)  # fmt: skip
            assert found is not None
            return found.calls

        assert [calls(refine=True, max_rounds=rounds) - calls() for rounds in (1, 3, 5)] == [0, 2, 4]

    def test_thirty_nuggets_are_kept_ten_weighed_at_a_time_vital_first_and_twenty_assigned(self) -> None:
        listed = [f"nugget {number}" + " vital" * (number % 3 == 0) for number in range(1, 36)]
        score, judge = self.ask({"nuggets": listed})
        batches = {
            step: [items_of(request, "NUGGETS") for request in judge.calls if request.step == f"autonuggetizer_{step}"]
            for step in ("importance", "assignment")
        }
        assert batches == {"importance": [10, 10, 10], "assignment": [10, 10]}
        kept = [nugget.text for nugget in score.evidence.verdicts["nuggets"]]
        vital = [name for name in listed[:30] if "vital" in name]
        assert kept == vital + [name for name in listed[:30] if "vital" not in name][: 20 - len(vital)]

    def test_nuggets_are_cleaned_and_long_ones_dropped(self) -> None:
        long = "one two three four five six seven eight nine ten eleven twelve thirteen"
        score, _ = self.ask({"nuggets": [" b  c ", "b c", "", long, long[:-9]]})
        assert [nugget.text for nugget in score.evidence.verdicts["nuggets"]] == ["b c", long[:-9]]
        assert score.evidence.facts["dropped"] == [long]

    def test_without_a_readable_grade_it_is_a_parse_failure(self) -> None:
        score, judge = self.ask({"nuggets": []}, (None, None))
        assert score.status is Status.PARSE_FAILURE
        assert (score.reason or "").startswith("passages 1, 2 could not be graded")
        assert steps(judge) == ["umbrela_grade"] * 2

    @pytest.mark.parametrize("nuggets", [[], [NO_INFORMATION], ["'Not enough information, no answer found.'"]])
    def test_passages_that_hold_nothing_make_one_nugget(self, nuggets: list[str]) -> None:
        score, judge = self.ask({"nuggets": nuggets})
        (asked,) = [request for request in judge.calls if request.step == "autonuggetizer_assignment"]
        assert asked.data["NUGGETS"] == f"[1] {NO_INFORMATION}"
        assert "autonuggetizer_importance" not in steps(judge)
        assert (score.values["vital"], score.values["weighted"]) == (1.0, 1.0)

    def test_that_nugget_goes_when_a_later_passage_tells_something(self) -> None:
        rounds = iter([[NO_INFORMATION], ["a vital", NO_INFORMATION]])
        score, judge = self.ask(lambda _: {"nuggets": next(rounds)}, (1,) * 11)
        assert [nugget.text for nugget in score.evidence.verdicts["nuggets"]] == ["a vital"]
        assert [call.data["NUGGETS"] for call in judge.calls if call.step.endswith("_nuggets")] == ["(none yet)"] * 2

    def test_nuggets_that_are_all_too_long_are_no_lack_of_information(self) -> None:
        score, _ = self.ask({"nuggets": ["word " * 13]})
        assert (score.status, score.reason) == (Status.NOT_APPLICABLE, "every nugget has more than 12 words")

    def test_an_empty_answer_supports_nothing_and_is_not_shown(self) -> None:
        score, judge = self.ask({"nuggets": ["a vital"]}, answer=" ")
        assert score.values["weighted"] == 0
        assert "autonuggetizer_assignment" not in steps(judge)

    def test_over_http_the_grades_are_those_of_umbrela(self, judge_server: JudgeServer, tmp_path: Any) -> None:
        for step, reply in {**self.SCRIPT, "autonuggetizer.nuggets": {"nuggets": ["a vital", "b"]}}.items():
            judge_server.say(step, reply)
        case = Case.of(**graded(3, 1, 0))
        judged("umbrela", case, judge_server, tmp_path)
        judge_server.clear()
        score = judged("autonuggetizer", case, judge_server, tmp_path)
        assert (score.status, score.values["weighted"]) == (Status.OK, 1.0)
        assert judge_server.steps == [f"autonuggetizer_{step}" for step in ("nuggets", "importance", "assignment")]

    def test_portions_are_parameters(self) -> None:
        def listed(request: Request) -> dict[str, list[str]]:
            return {"nuggets": [f"nugget {number}" for number in range(9)]}

        script = {
            "umbrela.grade": grading, "autonuggetizer.nuggets": listed,
            "autonuggetizer.importance": lambda request: [{"importance": "okay"}] * items_of(request, "NUGGETS"),
            "autonuggetizer.assignment": lambda request: [{"assignment": "support"}] * items_of(request, "NUGGETS"),
        }  # fmt: skip
        score, judge = ask(
            "autonuggetizer", graded(*[2] * 5) | {"answer": "a"}, script, passages_per_round=2, max_rounds=2,
            max_nuggets=7, kept_nuggets=4, nuggets_per_call=3,
        )  # fmt: skip
        asked = steps(judge)
        assert [asked.count(f"autonuggetizer_{step}") for step in ("nuggets", "importance", "assignment")] == [2, 3, 2]
        assert "at most 7; as it is" in next(call.text for call in judge.calls if call.step.endswith("nuggets"))
        assert (score.evidence.facts["rounds"], score.evidence.facts["passages_left_out"]) == (2, 1)
        assert len(score.evidence.verdicts["nuggets"]) == 4

    def test_okay_nuggets_alone_without_weight_have_no_weighted_mean(self) -> None:
        parameters = NuggetParameters(okay_weight=0)
        assert nugget_scores([(False, "support")], parameters)["weighted"] is None
        assert nugget_scores([(True, "not_support"), (False, "support")], parameters)["weighted"] == 0


class TestCitation:
    CONTEXTS = ("Passage of Ulm.", "Passage of rain.", "Passage of bread.")

    def ask(self, answer: str, support: Mapping[str, str], **given: Any) -> tuple[CaseScore, Any]:
        """`support` maps "statement > passage", or the passage alone, to the verdict; else full."""

        def said(request: Request) -> dict[str, str]:
            key = f"{request.data['STATEMENT']} > {request.data['PASSAGE']}"
            return {"support": next((verdict for part, verdict in support.items() if part in key), "full")}

        case = {"answer": answer, "retrieved_contexts": list(self.CONTEXTS), **given}
        return ask("citation", case, {"citation.support": said})

    @pytest.mark.parametrize(("answer", "support", "expected"), [
        pytest.param("A [1][2]. B [1]. C.", {"A > Passage of rain": "partial"}, (0.75, 0.583333, 0.65625),
            id="cases.md 9"),
        pytest.param("A [1]. B [2].", {}, (1, 1, 1), id="all in full"),
        pytest.param("A [1]. B [2].", {"> ": "none"}, (0, 0, 0), id="none at all"),
        pytest.param("A [1, 9].", {}, (0.5, 0.5, 0.5), id="one of two does not exist"),
        pytest.param("A [0].", {}, (0, 0, 0), id="passages count from 1"),
        pytest.param("A [1]. B [1]. C [2].", {"B >": "none"}, (0.75, 2 / 3, 12 / 17),
            id="precision is over passages, recall over parts"),
        pytest.param("A. B.", {}, (None, 0, 0), id="nothing is cited"),
        pytest.param("[1] A. [2] B.", {"B > Passage of Ulm": "none"}, (1, 1, 1), id="leading markers"),
    ])  # fmt: skip
    def test_numbers(self, answer: str, support: dict[str, str], expected: tuple[float | None, ...]) -> None:
        score, _ = self.ask(answer, support)
        found = [score.values[f"citation_{name}"] for name in ("precision", "recall", "f1")]
        assert found == pytest.approx(list(expected), abs=1e-6)
        assert score.status is Status.OK

    def test_one_judgement_a_pair_and_none_for_what_does_not_exist(self) -> None:
        score, judge = self.ask("A [1][2]. B [2][8].", {})
        asked = {(request.data["STATEMENT"], request.data["PASSAGE"]) for request in judge.calls}
        assert asked == {("A", self.CONTEXTS[0]), ("A", self.CONTEXTS[1]), ("B", self.CONTEXTS[1])}
        assert len(judge.calls) == 3
        last = score.evidence.verdicts["citations"][-1]
        assert last == Verdict("B", "no", "none", "there are 3 passages", facts={"cites": "8"})

    @pytest.mark.parametrize(("answer", "reading", "stray"), [
        ("A [1]. B.", "trailing markers", []), ("[1] A. [2] B.", "leading markers", []),
        ("[1] A. B [2].", "trailing markers", [1]), ("A. B.", "no markers", []),
    ])  # fmt: skip
    def test_the_evidence_says_how_markers_were_read(self, answer: str, reading: str, stray: list[int]) -> None:
        score, _ = self.ask(answer, {})
        assert (score.evidence.facts["reading"], score.evidence.facts["stray"]) == (reading, stray)

    @pytest.mark.parametrize(("citations", "contexts"), [
        (["2"], [2]), (["[1]", "3"], [1, 3]), (["Passage of rain."], [2]),
        (["https://example.com"], ["https://example.com"]), (["2", "[2]"], [2]),
    ])  # fmt: skip
    def test_the_citations_of_the_output_count_where_the_answer_has_no_markers(self, citations, contexts):
        score, _ = self.ask("A. B.", {}, citations=citations)
        assert score.evidence.facts["reading"] == "citations of the output"
        assert score.evidence.facts["parts"] == [{"text": "A. B.", "contexts": contexts}]
        marked, _ = self.ask("A [3].", {}, citations=citations)
        assert marked.evidence.facts["parts"] == [{"text": "A", "contexts": [3]}]

    def test_a_list_of_sources_is_cited_where_nothing_else_is(self) -> None:
        score, _ = self.ask("A. B.\n\nSources: [2], [3]", {})
        assert score.evidence.facts["reading"] == "list of sources"
        assert score.evidence.facts["parts"] == [{"text": "A. B.", "contexts": [2, 3]}]

    def test_names_of_files_mean_nothing_where_passages_have_no_ids(self) -> None:
        score, _ = self.ask("A [rain.pdf].", {})
        assert score.status is Status.NOT_APPLICABLE
        assert score.reason == "the answer cites 'rain.pdf' by name, and its retrieved contexts have no ids"

    def test_markers_name_passages_by_id_where_there_are_ids(self) -> None:
        ids = ["doc-3", "[7]", "١٢"]
        score, judge = self.ask("A [doc-3, 7]. B [007] [7]. C [12][1].", {}, context_ids=ids)
        asked = [(request.data["STATEMENT"], request.data["PASSAGE"]) for request in judge.calls]
        first, second, third = self.CONTEXTS
        assert sorted(asked) == sorted([("A", first), ("A", second), ("B", second), ("C", third)])
        facts, verdicts = score.evidence.facts, score.evidence.verdicts["citations"]
        assert facts["citations_resolved_by"] == "id"
        assert [part["contexts"] for part in facts["parts"]] == [["doc-3", "7"], ["7"], ["١٢", "1"]]
        assert (verdicts[1].rests_on, verdicts[1].facts) == ((("contexts", 2),), {"cites": "7"})
        assert verdicts[-1] == Verdict("C", "no", "none", "no passage has the id 1", facts={"cites": "1"})

    @pytest.mark.parametrize(
        ("citations", "contexts"),
        [(["[doc-3]", "doc-3"], ["doc-3"]), (["7, doc-3"], ["7", "doc-3"]), (["Passage of rain."], ["7"]),
         (["doc-9"], ["doc-9"])],
    )  # fmt: skip
    def test_listed_citations_are_ids_too(self, citations: list[str], contexts: list[str]) -> None:
        score, _ = self.ask("A. B.", {}, citations=citations, context_ids=["doc-3", "7", "x"])
        assert score.evidence.facts["parts"] == [{"text": "A. B.", "contexts": contexts}]

    def test_credits_are_in_order(self) -> None:
        with pytest.raises(InputError, match="no_credit ≤ partial_credit ≤ full_credit"):
            choose(["citation"], {"citation": {"no_credit": 0.6}})
