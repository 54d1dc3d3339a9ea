"""BLEU against nltk, and both text overlaps against their packages; `tests.benchmarks.bench_overlap` times them."""

import math
import time
import warnings

import pytest
from hypothesis import given, strategies as st
from nltk.translate.bleu_score import sentence_bleu
from rouge_score.rouge_scorer import RougeScorer

from metrics.text.overlap.bleu import bleu, bleu_counts
from metrics.text.overlap.rouge import ROUGE_TYPES, RougeText, rouge

TOKENS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat"]), max_size=14)
WEIGHTS = st.lists(st.floats(0, 1), min_size=1, max_size=6)
EQUAL = [(1.0,), (1 / 2, 1 / 2), (1 / 3,) * 3, (1 / 4,) * 4]


def oracle(references: list[list[str]], candidate: list[str], weights: list[float] | tuple[float, ...]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "0 counts of n-gram overlaps"
        return float(sentence_bleu(references, candidate, weights))


@given(texts=st.lists(st.tuples(st.lists(TOKENS, min_size=1, max_size=4), TOKENS), max_size=4), weights=WEIGHTS)
def test_bleu_equals_nltk(texts: list[tuple[list[list[str]], list[str]]], weights: list[float]) -> None:
    for counts, (references, candidate) in zip(bleu_counts(texts, max(4, len(weights))), texts, strict=True):
        for chosen in [*EQUAL, weights]:
            assert bleu(counts, chosen) == pytest.approx(oracle(references, candidate, chosen), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("reference", "candidate", "expected"), [
    pytest.param("the cat sat on the mat", "the cat is on the mat", [5 / 6, math.sqrt(0.5), 0.5, 0], id="one-word"),
    pytest.param("a b", "a b", [1, 1, 0, 0], id="identical-and-short"),
    pytest.param("a b c d e", "a b c d", [math.exp(-1 / 4)] * 4, id="brevity"),
    pytest.param("a b c d", "", [0, 0, 0, 0], id="empty"),
    pytest.param("the cat", "the the the the", [1 / 4, 0, 0, 0], id="clipped"),
])  # fmt: skip
def test_bleu_by_hand(reference: str, candidate: str, expected: list[float]) -> None:
    [counts] = bleu_counts([([reference.split()], candidate.split())])
    assert [bleu(counts, weights) for weights in EQUAL] == pytest.approx(expected, abs=1e-9)


def test_both_overlaps_equal_their_packages_on_longer_pairs() -> None:
    for one, other in zip(ours(PAIRS), theirs(PAIRS), strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def ours(pairs: list[tuple[str, str]]) -> list[list[float]]:
    """Return ROUGE's F scores and BLEU-1 to -4 of each pair."""
    overlaps = rouge((RougeText(reference), RougeText(answer)) for reference, answer in pairs)
    counts = bleu_counts(([reference.split()], answer.split()) for reference, answer in pairs)
    return [
        [score.f for score in scores.values()] + [bleu(found, weights) for weights in EQUAL]
        for scores, found in zip(overlaps, counts, strict=True)
    ]


def theirs(pairs: list[tuple[str, str]]) -> list[list[float]]:
    scorer = RougeScorer(list(ROUGE_TYPES))
    return [
        [score.fmeasure for score in scorer.score(reference, answer).values()]
        + [oracle([reference.split()], answer.split(), weights) for weights in EQUAL]
        for reference, answer in pairs
    ]


def word_pairs() -> list[tuple[str, str]]:
    """Return pairs of 60 words, a quarter of each replaced."""
    words = (math.__doc__ + str.__doc__ + warnings.__doc__ + time.__doc__ + str(st.__doc__)).split() * 20
    pairs = []
    for start in range(0, 600, 4):
        reference = words[start : start + 60]
        answer = [words[(start * 7 + index) % len(words)] if index % 4 == 0 else w for index, w in enumerate(reference)]
        pairs.append((" ".join(reference), " ".join(answer)))
    return pairs


PAIRS = word_pairs()
