"""ROUGE against the rouge_score package; the longest common subsequence against its table."""

import random

import pytest
from hypothesis import given, strategies as st
from rouge_score.rouge_scorer import RougeScorer, lcs_ind

from metrics.text.overlap import edits, rouge as rouge_scores
from metrics.text.overlap.edits import Work, lcs_length, lcs_positions
from metrics.text.overlap.rouge import ROUGE_TYPES, RougeText, rouge, rouge_lsum

ORACLE = {stem: RougeScorer(list(ROUGE_TYPES), use_stemmer=stem) for stem in (False, True)}
WORDS = st.sampled_from(
    ["the", "cat", "cats", "running", "runs", "National", "sat,", "é", "naïve", "\n", "42", "it's", "K"]
)
TEXTS = st.one_of(st.lists(WORDS, max_size=25).map(" ".join), st.text(max_size=60))
TOKENS = st.lists(st.sampled_from("abcd"), max_size=30)


@pytest.mark.parametrize("stem", [False, True], ids=["words", "stems"])
@given(texts=st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_rouge_equals_the_package(stem: bool, texts: list[tuple[str, str]]) -> None:
    pairs = [(RougeText(reference, stem), RougeText(candidate, stem)) for reference, candidate in texts]
    for found, (reference, candidate) in zip(rouge(pairs), texts, strict=True):
        expected = ORACLE[stem].score(reference, candidate)
        for kind, ours in found.items():
            assert ours == pytest.approx(tuple(expected[kind]), abs=1e-12), kind


@given(reference=TOKENS, candidate=TOKENS)
def test_subsequence_is_the_one_the_package_takes(reference: list[str], candidate: list[str]) -> None:
    expected = lcs_ind(reference, candidate)
    assert lcs_positions([reference], candidate, Work()) == [expected]
    assert lcs_length(reference, candidate) == len(expected)


@pytest.mark.parametrize(("block", "narrow", "frequent"), [(7, 4096, 64), (256, 4, 3), (7, 4, 0)])
def test_subsequence_of_long_texts(monkeypatch: pytest.MonkeyPatch, block: int, narrow: int, frequent: int) -> None:
    """Rows in blocks, and columns too wide to keep every mask."""
    for name, value in (("BLOCK", block), ("NARROW", narrow), ("FREQUENT", frequent)):
        monkeypatch.setattr(edits, name, value)
    rng = random.Random(0)
    for size in (0, 1, 6, 7, 8, 14, 15, 90):
        reference, candidate = rng.choices("abcdefgh", k=size), rng.choices("abcdefgh", k=rng.randrange(60))
        expected = lcs_ind(reference, candidate)
        assert lcs_positions([reference], candidate, Work()) == [expected]
        assert lcs_length(reference, candidate) == len(expected)


@pytest.mark.parametrize(("reference", "candidate", "expected"), [
    pytest.param([], [], 0.0, id="nothing"),
    pytest.param([["a"]], [[]], 0.0, id="empty-line"),
    pytest.param([list("12345")], [list("12678"), list("13895")], 2 * 0.4 * 0.8 / 1.2, id="Lin-2004-section-3.2"),
    pytest.param([["a"], ["a"]], [["a"]], 2 / 3, id="a-token-counts-once"),
])  # fmt: skip
def test_lsum_by_hand(reference: list[list[str]], candidate: list[list[str]], expected: float) -> None:
    assert rouge_lsum(reference, candidate).f == pytest.approx(expected)


@pytest.mark.attack(
    "model", "20,000 lines that share a word take an hour of ROUGE-Lsum", "only lines that can still gain are compared"
)
def test_lines_that_share_a_word_are_not_all_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rouge_scores, "Work", lambda: Work(1_500 * 1_500 * edits.ROW))  # one row for each pair
    reference, candidate = ([["the", f"{side}{line}"] for line in range(1_500)] for side in "rc")
    assert rouge_lsum(reference, candidate).f == pytest.approx(0.5)


LONG = {
    "one-line": (" ".join("ab" * 600), " ".join("ba" * 600), ["rougeL", "rougeLsum"]),
    "lines": ("\n".join(f"a b r{n}" for n in range(90)), "\n".join(f"b a c{n}" for n in range(90)), ["rougeLsum"]),
}


@pytest.mark.attack(
    "model", "megabytes that differ everywhere take hours of ROUGE-L", "it has a limit of work, and then no value"
)
@pytest.mark.parametrize(("reference", "candidate", "lacking"), LONG.values(), ids=LONG)
def test_what_takes_too_long_has_no_value(monkeypatch, reference, candidate, lacking):
    monkeypatch.setattr(Work, "__init__", lambda work: setattr(work, "left", 60_000))
    (found,) = rouge([(RougeText(reference), RougeText(candidate))])
    assert [kind for kind in ROUGE_TYPES if kind not in found] == lacking
