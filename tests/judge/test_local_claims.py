"""The local judge's claims by rules, and the passages and words that its verdicts rest on."""

import json
from pathlib import Path

import pytest

from metrics.judge.local.claim_sentences import claim_sentences
from metrics.judge.local.completer import WORDS_READ, relevant_passages
from metrics.judge.local.short_questions import Scale
from tests.corpora.grounding import answers, long_summaries, summaries

CORPUS = Path(__file__).parent.parent / "corpora" / "answer_claims.tsv"  # number of claims, or "" for any; the answer
ANSWERS = [line.split("\t") for line in CORPUS.read_text(encoding="utf-8").splitlines()[1:]]


@pytest.mark.parametrize("answer", [
    "no", "Yes", "Judson", "United States", "42", "on 3 July 1908", "1 h 30 min", "-40 °C", "2**10",
    "Who's Afraid of Virginia Woolf?",
])  # fmt: skip
def test_a_bare_answer_is_never_dropped(answer):
    assert claim_sentences(answer, "Who or what was it?") == [f"Who or what was it? {answer}"]


@pytest.mark.parametrize("held_out", [False, True])
def test_every_answer_and_sentence_of_the_corpus_is_a_claim(held_out):
    for case in answers(held_out):
        assert len(claim_sentences(case.answer, case.question)) == 1, case.answer
    for case in (*summaries(held_out), *long_summaries(held_out)):
        assert claim_sentences(case.answer) == [sentence for sentence, _ in case.sentences]


def test_what_states_something_is_kept_and_nothing_else():
    for count, text in ANSWERS:
        found = claim_sentences(json.loads(text), "Who wrote the book?")
        assert len(found) == int(count) if count else found, text


def test_headings_lists_code_and_long_texts_are_read_by_what_they_state():
    text = "# Mills\n\nThe **old** mill has:\n- A wheel turns it.\n\n```python\nprint(1)\n```\n## Date\nIt is of 1502."
    assert (claim_sentences(text), claim_sentences("```\nx = 1\n```")) == (
        ["A wheel turns it.", "It is of 1502."],
        ["x = 1"],
    )
    assert claim_sentences("I don't know " * 20_000)


class TestPassages:
    def test_of_a_dialogue_what_a_claim_is_about_is_read_and_an_endless_sentence_is_cut(self):
        lines = [f"A: tariffs rose again, number {number} of many tariffs" for number in range(60)]
        lines[10], lines[11] = "A: Where is the passport?", "B: In the drawer."
        shown = relevant_passages("\n".join(lines), "The passport is in the drawer.")
        assert "A: Where is the passport?\nB: In the drawer." in shown
        assert shown.startswith("…")
        assert len(shown.split()) <= WORDS_READ + 10  # the marks
        assert len(relevant_passages("word " * 5_000, "word").split()) == WORDS_READ


def test_a_scale_moves_the_logit():
    assert Scale().share(0.9) == pytest.approx(0.9)
    assert Scale(slope=2).share(0.9) == pytest.approx(81 / 82)  # odds 9² to 1
    assert Scale(offset=-2.1972246).share(0.9) == pytest.approx(0.5)
    assert Scale(offset=1, number=-3).share(0.5, lacks_number=True) == pytest.approx(0.1192029)  # σ(1 − 3)
    assert Scale(offset=1, number=-3).share(0.5) == pytest.approx(0.7310586)  # σ(1)
    assert Scale(several=0.5).share(0.5, claims=4) == pytest.approx(2 / 3)  # odds √4 to 1
    assert 0 < Scale(slope=3).share(0.0) < Scale(slope=3).share(1.0) < 1
