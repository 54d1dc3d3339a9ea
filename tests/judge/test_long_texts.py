"""Long texts: a judge that makes no mistake gives a text and its tenfold concatenation the same score."""

import asyncio
import re
from typing import Any

import pytest

from metrics.core.errors import Cut
from metrics.core.prompt import Prompt
from metrics.core.suite import Case, Outputs, Suite
from metrics.engine.estimate import estimate
from metrics.judge import steps
from metrics.judge.budget import about_tokens
from metrics.judge.long_texts import (
    INSTRUCTIONS,
    UNKNOWN,
    batches,
    distinct,
    lead,
    left_by,
    pieces,
    question_room,
    size_of,
    window_of,
)
from metrics.judge.settings import JudgeSettings
from metrics.judge.typical_reply import typical_reply
from tests.judge.judging import judged
from tests.judge.perfect import PerfectJudge, planted, prose
from tests.judge.scripted import ScriptedJudge, answers
from tests.judge.server import Request, items_of

QUESTION = "What of the mills?"
TIMES = 10  # 5 kB become 50 kB


def answer(marker: str = "") -> str:
    """5 kB: 20 claims, of which the last five give a mill 3 wheels instead of 2."""
    return prose([planted(number, 3 if number > 14 else 2) + marker for number in range(20)], 5_000)


def case(times: int, marker: str = "") -> Case:
    """A case whose texts stand `times` one after the other.

    Of the answer's claims, 0–9 are expected; 10–16 are not, and stand in the second context, which holds what is
    expected too; 17 is in the first, which does not, 18 and 19 are in none. The third contradicts 16. Of what is
    expected, mills 0–9, 90 and 91, the last two are in no context and not in the answer.
    """
    contexts = [
        prose([planted(17, 3), planted(41)], 2_000),
        prose([planted(number, 3 if number > 14 else 2) for number in range(17)], 5_000),
        prose([planted(16), planted(50)], 2_000),
    ]
    return Case.of(
        question=QUESTION, answer="\n\n".join([answer(marker)] * times),
        retrieved_contexts=["\n\n".join([text] * times) for text in contexts],
        expected_answers=["\n\n".join([prose([planted(number) for number in (*range(10), 90, 91)], 4_000)] * times)],
    )  # fmt: skip


F1 = 10 / (10 + 0.5 * (10 + 2))
PERFECT: dict[str, dict[str, float]] = {
    "faithfulness": {"faithfulness": 18 / 20}, "hallucination_claims": {"hallucination_claims": 2 / 20},
    "answer_relevance": {"answer_relevance": 10 / 20}, "answer_correctness": {"answer_correctness": F1},
    "context_recall": {"context_recall": 10 / 12}, "context_precision": {"context_precision": 1 / 2},
    "context_relevance": {"context_relevance": 2 / 3},
    "relevant_noise_sensitivity": {"relevant_noise_sensitivity": 7 / 20},
    "irrelevant_noise_sensitivity": {"irrelevant_noise_sensitivity": 1 / 20},
    "hallucination_contexts": {"hallucination_contexts": 1 / 3},
    "ragas": {"ragas": 4 / (20 / 18 + 1 / 1 + 2 / 1 + 12 / 10)}, "no_answer": {"no_answer": 1.0},
    "umbrela": {"umbrela": 3.0},
    "citation": {"citation_precision": 17 / 20, "citation_recall": 17 / 20, "citation_f1": 17 / 20},
}  # fmt: skip


@pytest.mark.parametrize("name", PERFECT)
def test_a_perfect_judge_scores_50_kb_like_5_kb(name, judge_server):
    perfect = PerfectJudge(judge_server)
    for times in (1, TIMES):
        score = judged(name, case(times, marker=" [2]" if name == "citation" else ""), judge_server)
        assert score.status == "ok", score.reason
        assert {key: score.values[key] for key in PERFECT[name]} == pytest.approx(PERFECT[name])
        quotes = (score.evidence.judge or {}).get("quotes", {}) if score.evidence else {}
        assert not quotes.get("not_found")
    assert perfect.cut == 0


SIXTY = [prose([planted(number)], 8_000) for number in range(60)]


@pytest.mark.parametrize(
    ("contexts", "numbers"),
    [
        (SIXTY, {0: [1], 59: [60], 31: [32]}),
        ([prose([planted(number) for number in range(60)], 300_000)], {0: [1], 59: [1], 31: [1]}),
        ([*SIXTY[:59], SIXTY[59] + planted(0)], {0: [1, 60], 59: [60]}),
        (["", *SIXTY[:3], " ", *SIXTY[3:]], {0: [2], 59: [62]}),
    ],
    ids=["60 contexts of 8 kB", "one of 300 kB", "in the first and the last", "blank ones keep their numbers"],
)
def test_every_context_is_read(contexts, numbers, judge_server):
    PerfectJudge(judge_server)
    stated = " ".join(planted(number) for number in [*numbers, 99])
    score = judged("faithfulness", Case.of(answer=stated, retrieved_contexts=list(contexts)), judge_server)
    assert score.evidence is not None, score.reason
    claims = score.evidence.verdicts["claims"]
    assert [[number for _, number in claim.rests_on] for claim in claims] == [*numbers.values(), []]
    assert all(claim.facts["quote_found"] for claim in claims[:-1])
    asked = [request for request in judge_server.calls if request.step == "entailment"]
    assert (score.evidence.judge or {})["notes"] == {"context_batches": len(asked)}
    assert sum(map(len, contexts)) / 33_000 < len(asked) <= sum(map(len, contexts)) / 24_000


def test_batches_begin_with_what_is_most_alike(judge_server):
    """So that contexts that support a claim only together are shown together."""
    PerfectJudge(judge_server)
    contexts = [f"Of mill {number}: " + "nothing at all is known. " * 300 for number in range(30)]
    contexts[3], contexts[27] = contexts[3] + "Anna wove linen.", contexts[27] + "Linen was dear to Anna."
    steps_asked: list[Request] = judge_server.calls
    judge_server.say("claims", {"claims": ["Anna wove dear linen."]})
    judged("faithfulness", Case.of(answer="Anna wove dear linen.", retrieved_contexts=contexts), judge_server)
    (together,) = [request for request in steps_asked if "Anna wove linen." in request.data.get("CONTEXTS", "")]
    assert "Linen was dear to Anna." in together.data["CONTEXTS"]
    assert together.data["CONTEXTS"].index("Of mill 3:") < together.data["CONTEXTS"].index("Of mill 27:")


def test_what_fits_is_asked_as_one_question():
    """Text and contexts of moderate length: one call each, unchanged."""
    asked = ScriptedJudge(answers({"claims": {"claims": ["a"]}, "entailment": [{"supported_by": [3]}]}))
    text, contexts = "It is so.  \n\n And so. " * 100, ["b " * 3_000, "", "c " * 3_000]
    stated = asyncio.run(steps.claims(asked, text, "What?"))
    assert [entry.supported_by for entry in asyncio.run(steps.entailment(asked, stated, contexts))] == [[3]]
    assert [request.data for request in asked.calls] == [
        {"QUESTION": "What?", "TEXT": text},
        {"CONTEXTS": f"[1] {contexts[0]}\n[2] \n[3] {contexts[2]}", "CLAIMS": "[1] a"},
    ]
    assert asked.calls[0].text.startswith(steps.CLAIMS.text)
    assert not asked.notes


def test_a_part_is_shown_with_what_tells_its_pronouns():
    parts = ["The mill stands on the Oos. It is old. " * 60 + f"It has {number} wheels." for number in range(3)]
    asked = ScriptedJudge(answers({"claims": lambda request: {"claims": [request.data["TEXT"][-20:]]}}))
    found = asyncio.run(steps.claims(asked, "# History\n\n" + "\n\n".join(parts)))
    befores = [request.data.get("BEFORE") for request in asked.calls]
    assert befores[0] is None
    assert all(before.startswith("# History … ") and before.endswith("wheels.") for before in befores[1:] if before)
    assert None not in befores[1:]
    assert all(request.text.startswith(steps.CLAIMS.text) for request in asked.calls)
    assert len(found) == 3
    asked.edited = frozenset({"claims"})
    asked.calls.clear()
    asyncio.run(steps.claims(asked, "\n\n".join(parts)))
    assert not any("BEFORE" in request.data for request in asked.calls), "a wording of the user's does not know it"


class Cutting(ScriptedJudge):
    """Its reply to a text of more than `most` characters is cut."""

    most = 500

    async def ask(self, prompt: Any, reply: Any, data: Any, *, repeat: int = 0) -> Any:
        if len(data["TEXT"]) > self.most:
            raise Cut("the judge's reply was cut by the limit of 4,096 tokens: raise max_tokens")
        return await super().ask(prompt, reply, data, repeat=repeat)


def test_a_cut_reply_halves_its_text_and_a_claim_counts_once():
    stated = [planted(number) for number in range(120)]
    script = answers({"claims": lambda request: {"claims": [f"{text}." for text in request.data["TEXT"].split(". ")]}})
    asked = Cutting(script)
    assert len(asyncio.run(steps.claims(asked, " ".join(stated)))) == 120
    assert max(len(request.data["TEXT"]) for request in asked.calls) <= 500
    asked.most = 20
    with pytest.raises(Cut, match="raise max_tokens"):
        asyncio.run(steps.claims(asked, " ".join(stated)))
    said = ["The mill is old.", "the mill  is OLD", "The mill is old!", "The ｍill is old", "The mill is not old.", "!"]
    assert distinct(said) == ("The mill is old.", "The mill is not old.", "!")
    asked = ScriptedJudge(answers({"claims": {"claims": said}}))
    assert (len(asyncio.run(steps.claims(asked, "text"))), asked.notes) == (3, {"duplicates": 3})


@pytest.mark.parametrize(("text", "most"), [
    ("One sentence. " * 2_000, 1_000), ("水車は古い。" * 1_000, 1_000), ("x" * 50_000, 1_000), ("short", 1_000),
    ("# A\n\n" + "ascii words, " * 500 + "水車は古い。" * 500, 600), ("", 10),
], ids=["sentences", "Japanese", "one word", "short", "two scripts", "empty"])  # fmt: skip
def test_pieces_lose_nothing_and_fit(text, most):
    found = pieces(text, most)
    assert all(about_tokens(piece) <= most for piece in found)
    assert ("".join("".join(found).split()), found) == ("".join(text.split()), pieces(text, most))
    if about_tokens(text) <= most:
        assert found == [text]


def test_batches_fill_up_in_order_and_are_no_crumbs():
    assert batches(["a" * 30, "b" * 30, "c" * 300, "d"], 30) == [[0, 1], [2], [3]]
    assert (batches(["a"] * 5, 1_000, 2), batches([], 10)) == ([[0, 1], [2, 3], [4]], [])
    assert size_of({"QUESTION": None, "TEXT": "a" * 30, "ITEMS": ["b" * 30, "c"]}) == 14 + 14 + 5
    asked = ScriptedJudge(answers({"test": lambda request: [{"verdict": "no"}] * items_of(request, "ITEMS")}))
    data, items = {"QUESTION": "Why? " * 20_000}, [f"item {number}" for number in range(30)]
    prompt = Prompt("test", "Say yes or no to each of the ITEMS.")
    said = steps.each_text(asked, prompt, steps.YesNoReply, items, data, name="ITEMS", decides=steps.says_yes)
    assert (len(asyncio.run(said)), len(asked.calls)) == (30, 1)
    assert left_by({"QUESTION": "a" * 30}, 1_000) == 1_000 - 14


LONG = prose([planted(number) for number in range(40)], 60_000)
WHOLE: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "summary_coherence": ({"source_text": LONG, "answer": "Mills."}, {}, "SOURCE"),
    "summarization_judge": ({"source_text": LONG, "answer": "Mills."}, {}, "SOURCE"),
    "byop": ({"answer": LONG}, {"prompt": "Is {actual_answer} polite?"}, "ACTUAL_ANSWER"),
    "g_eval": ({"question": QUESTION, "answer": LONG}, {"criterion": "Polite.", "steps": ["Read."]}, "ACTUAL_ANSWER"),
    "rubric": ({"question": QUESTION, "answer": "Mills.", "retrieved_contexts": [LONG]}, {}, "SOURCES"),
    "fact_check": ({"question": QUESTION, "answer": LONG}, {}, "ANSWER"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_can_only_be_judged_whole_and_does_not_fit_is_an_error(name, judge_server, tmp_path):
    given, parameters, block = WHOLE[name]
    judge_server.say(
        lambda request: bool(request.step), lambda request: typical_reply(request.schema or {}, request.messages)
    )
    score = judged(name, Case.of(**given), judge_server, **parameters)
    assert (score.status, score.values) == ("error", {})
    assert re.search(
        rf"the question may have 2\d,\d{{3}} tokens, (19|20),\d{{3}} of them in {block}, and the judge .* takes 12,288 "
        r"beside its reply: shorten the text, choose a judge with a larger window, or set the judge's option window",
        score.reason or "",
    )
    assert not judge_server.calls
    wider = judged(name, Case.of(**given), judge_server, tmp_path, judge={"window": 40_000}, **parameters)
    assert wider.status == "ok"
    assert judged(name, Case.of(**given), judge_server, tmp_path, **parameters) == wider, "a stored reply is taken"


def test_lead():
    assert lead([]) is None
    assert lead(["The mill is old. It is red."]) == "The mill is old. It is red."
    assert lead(["The mill is old. " + "It is red. " * 100]).startswith("The mill is old. … It is red.")  # type: ignore[union-attr]
    assert len(lead(["word " * 1_000, "more " * 1_000]) or "") <= 800


@pytest.mark.parametrize(("settings", "window", "room"), [
    ({"model": "m", "base_url": "http://localhost:1/v1"}, UNKNOWN, 16_384 - 4_096 - INSTRUCTIONS),
    ({"model": "m", "base_url": "http://localhost:1/v1", "window": 4_096}, 4_096, 2_048 - INSTRUCTIONS),
    ({"model": "gpt-4o-mini"}, 128_000, 128_000 - 4_096 - INSTRUCTIONS),
    ({"model": "nobody/knows"}, UNKNOWN, 16_384 - 4_096 - INSTRUCTIONS),
    ({"model": "local"}, 8_192, 8_192 - INSTRUCTIONS),
    ({"model": "gpt-4o-mini", "window": 30_000, "max_tokens": 1_000}, 30_000, 29_000 - INSTRUCTIONS),
], ids=["a server", "a small one", "listed", "unlisted", "local", "as set"])  # fmt: skip
def test_the_window(settings, window, room):
    judge = JudgeSettings.model_validate(settings)
    assert (window_of(judge), question_room(judge) - INSTRUCTIONS) == (window, room)
    assert ("window" in judge.numbers()) is ("window" in settings)
    assert "window" not in judge.identity(), "it changes which questions are asked, not the replies"


@pytest.mark.parametrize("name", ["faithfulness", "answer_correctness", "hallucination_contexts"])
def test_the_estimate_counts_parts_and_batches(name, tmp_path, judge_server):
    """A judge that replies as an estimate supposes is asked as often as it says."""
    long = case(4)
    row = {"case_id": "a", "question": QUESTION, "expected_answers": list(long.expected_answers)}
    suite = Suite.from_rows("mills", "text", [row])
    said = {"answer": long.answer, "retrieved_contexts": list(long.retrieved_contexts)}
    outputs = Outputs.from_rows([{"case_id": "a", "model": "m", **said}])
    setting = {"judge": {"model": "scripted", "base_url": judge_server.url}}
    foreseen = estimate(suite, outputs, [name], None, setting, tmp_path)
    assert not judge_server.calls
    judged(name, long, judge_server)
    assert foreseen.calls == len(judge_server.calls) > 4
