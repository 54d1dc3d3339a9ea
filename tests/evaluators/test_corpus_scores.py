"""Corpus BLEU, chrF and TER against sacreBLEU: values, of cases too, and signatures."""

import logging
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.lib_ter import translation_edit_rate

from metrics.core.evaluator import Findings
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.text._corpora import corpus_aggregate, error_rate
from metrics.evaluators.text._edit_rate import edit_count
from metrics.stats.bootstrap import Draws
from metrics.text.overlap import edits
from metrics.text.overlap.bleu import corpus_bleu
from tests.random_seeds import seeds

WORDS = "the red cat sat on a mat. Ünï 1889 - it's x, (yes) 3.5 well-known & « » don't ... A B .".split()
Corpus = tuple[list[str], list[list[str]]]  # answers, and the expected answers of each


def corpora(seed: int, many: int = len(seeds(20, 200))) -> Iterator[Corpus]:
    """Yield small corpora with one, two or varying references, some answers empty, some equal."""
    chance = Random(seed)

    def text(most: int) -> str:
        return " ".join(chance.choice(WORDS) for _ in range(chance.randrange(most)))

    def near(reference: str) -> str:
        words = [chance.choice(WORDS) if chance.random() < 0.2 else word for word in reference.split()]
        start, end = sorted(chance.randrange(len(words) + 1) for _ in range(2))
        return " ".join(words[start:end] + words[:start] + words[end:])

    for number in range(many):
        expected = [
            [text(14) or "a" for _ in range(1 + number % 2 if number % 3 else chance.randrange(1, 4))]
            for _ in range(chance.randrange(1, 6))
        ]
        yield [near(own[0]) if chance.random() < 0.7 else text(12) for own in expected], expected


def found(evaluator: str, corpus: Corpus, **parameters: Any) -> Findings:
    answers, expected = corpus
    suite = Suite.from_rows("s", "text", [{"case_id": str(n), "expected_answers": e} for n, e in enumerate(expected)])
    outputs = Outputs.from_rows([{"case_id": str(n), "model": "m", "answer": a} for n, a in enumerate(answers)])
    entry = evaluators()[evaluator]
    return entry(suite, outputs, entry.parameters.model_validate({"resamples": 0, **parameters}))


def streams(expected: list[list[str]]) -> list[list[str | None]]:
    """Return the expected answers as sacreBLEU takes them: the first of every case, the second …"""
    most = max(map(len, expected))
    return [[own[place] if place < len(own) else None for own in expected] for place in range(most)]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Without sacreBLEU's advice."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def agrees(findings: Findings, metric: str, corpus: Corpus, peer: Any, single: Any = None) -> None:
    """The score of the corpus, its signature and the score of each case are sacreBLEU's."""
    [total] = [row for row in findings.aggregates if row.metric == metric]
    assert total.value == pytest.approx(peer.corpus_score(corpus[0], streams(corpus[1])).score / 100, abs=1e-12)
    assert total.columns["signature"] == str(peer.get_signature())
    for place, (answer, references) in enumerate(zip(*corpus, strict=True)):
        wanted = (single or peer).sentence_score(answer, references).score / 100
        assert findings.cases[str(place)].values[metric] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("smoothing", ["exp", "floor", "add-k", "none"])
def test_corpus_bleu_is_that_of_sacrebleu(smoothing: str) -> None:
    for number, corpus in enumerate(corpora(11, len(seeds(20, 60)))):
        tokenizer, lower = ("13a", "intl", "char", "zh", "none")[number % 5], number % 4 == 0
        peer = BLEU(tokenize=tokenizer, smooth_method=smoothing, lowercase=lower, force=True)
        single = BLEU(tokenize=tokenizer, smooth_method=smoothing, lowercase=lower, effective_order=True)
        chosen = {"tokenizer": "whitespace" if tokenizer == "none" else tokenizer, "lowercase": lower}
        agrees(found("corpus_bleu", corpus, smoothing=smoothing, **chosen), "corpus_bleu", corpus, peer, single)


@pytest.mark.parametrize(("metric", "orders"), [("chrf", 0), ("chrf_plus_plus", 2)])
def test_chrf_is_that_of_sacrebleu(metric: str, orders: int) -> None:
    for number, corpus in enumerate(corpora(12)):
        chosen: dict[str, Any] = {"beta": 1 + number % 3, "lowercase": number % 4 == 0}
        agrees(found("chrf", corpus, **chosen), metric, corpus, CHRF(word_order=orders, **chosen))


def test_ter_is_that_of_sacrebleu() -> None:
    for number, corpus in enumerate(corpora(14)):
        chosen = {"case_sensitive": number % 2 == 0, "no_punct": number % 3 == 0}
        agrees(found("ter", corpus, **chosen), "ter", corpus, TER(**chosen))


def alignments(wanted: list[str], made: list[str]) -> tuple[int, set[int]]:
    """Return the fewest edits, and how many words can match in the ways that take so few: by all ways, plainly."""
    table: dict[tuple[int, int], tuple[int, set[int]]] = {(0, 0): (0, {0})}
    for i, j in product(range(len(wanted) + 1), range(len(made) + 1)):
        ways = [
            (table[i - a, j - b][0] + 1 - same, {many + same for many in table[i - a, j - b][1]})
            for a, b in ((1, 0), (0, 1), (1, 1)) if i >= a and j >= b
            for same in [int(a == b and wanted[i - 1] == made[j - 1])]
        ]  # fmt: skip
        least = min((edits for edits, _ in ways), default=0)
        table.setdefault((i, j), (least, set().union(*(many for edits, many in ways if edits == least))))
    return table[len(wanted), len(made)]


def test_error_rates_of_a_corpus_are_the_definition() -> None:
    """200 corpora; of alignments with as few edits and other matches, one of them. jiwer 4.0 gave the same on 400."""
    for answers, references in corpora(15, 200):
        expected = [own[:1] for own in references]
        got = {row.metric: row.value for row in found("corpus_error_rate", (answers, expected)).aggregates}
        pairs = [(own[0].split(), made.split()) for own, made in zip(expected, answers, strict=True)]
        ways = [alignments(*pair) for pair in pairs]
        words, given = (sum(len(pair[side]) for pair in pairs) for side in range(2))
        changed, matches = sum(way[0] for way in ways), {sum(each) for each in product(*(way[1] for way in ways))}
        assert got["corpus_wer"] == pytest.approx(changed / words)
        assert any(got["corpus_mer"] == pytest.approx(changed / (changed + many)) for many in matches)
        assert any(got["corpus_wip"] == pytest.approx(many**2 / words / max(given, 1)) for many in matches)
        assert got["corpus_wil"] == pytest.approx(1 - (got["corpus_wip"] or 0))


def test_what_is_too_long_to_align_has_error_rates_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edits, "MOST_EDITED", 3)
    findings = found("corpus_error_rate", (["a b", "c"], [["a x"], ["c"]]))
    got = {row.metric: row for row in findings.aggregates}
    assert (got["corpus_wer"].value, got["corpus_mer"].value) == (1 / 3, None)
    assert "of which kinds their edits are is not known" in str(got["corpus_mer"].reason)
    assert (findings.cases["0"].values["corpus_wer"], findings.cases["0"].values["corpus_wil"]) == (0.5, None)


def test_normalised_texts_are_compared_in_that_form() -> None:
    """A reference of which nothing is left has no rate, with the reason."""
    corpus = (["(uh) Hello, World!", "x"], [["hello world"], ["[noise]"]])
    findings = found("corpus_error_rate", corpus, normalise="basic")
    [rate, *_] = findings.aggregates
    assert (rate.value, rate.n, rate.unscored, findings.cases["1"].values["corpus_wer"]) == (0.0, 1, 1, None)
    assert findings.cases["1"].reason == "of no expected answer is there any text that counts"


@pytest.mark.parametrize(("words", "length"), [(3, 40), (8, 30), (40, 70)])
def test_shifts_of_longer_texts_are_searched_as_far(words: int, length: int) -> None:
    """Beyond the beam of 25 words, and up to the most candidates; 400 more pairs gave the same."""
    chance = Random(words)
    for _ in seeds(2, 8):
        reference = [str(chance.randrange(words)) for _ in range(length)]
        start, end, to = sorted(chance.randrange(length) for _ in range(3))
        moved = reference[:start] + reference[end:to] + reference[start:end] + reference[to:]
        made = [str(chance.randrange(words)) if chance.random() < 0.1 else word for word in moved][
            chance.randrange(9) :
        ]
        assert edit_count(made, reference) == translation_edit_rate(made, reference)[0]


def test_intervals_hold_the_score_of_all_texts() -> None:
    """Samples of 30 texts out of 20,000 whose quality varies; over 300 samples of 10, 30, 100: 93 to 96 %."""
    rng = np.random.default_rng(5)
    length, quality = rng.integers(8, 40, 20_000), rng.beta(4, 2, 20_000)
    made = length + rng.integers(-3, 4, 20_000)
    totals = [np.maximum(made - order, 0) for order in range(4)]
    matches = [rng.binomial(total, quality ** (order + 1)) for order, total in enumerate(totals)]
    kinds = {
        "corpus_bleu": (np.stack([made, length, *matches, *totals], 1).astype(float), corpus_bleu, True),
        "ter": (np.stack([rng.binomial(length, 1 - quality), length], 1).astype(float), error_rate, False),
    }
    draws, drawn = Draws.of(np.arange(30), 300), seeds(100, 200)
    for name, (counts, score, bounded) in kinds.items():
        truth, held = float(score(counts.sum(axis=0))), 0
        for _ in drawn:
            row = corpus_aggregate(name, counts[rng.integers(0, 20_000, 30)], score, draws, 0, {}, bounded)
            held += (row.low or 0) <= truth <= (row.high or 0)
        assert 0.9 <= held / len(drawn) <= 0.99, name


def test_an_open_rate_has_an_interval_above_nothing() -> None:
    corpus = max(corpora(13), key=lambda own: len(own[0]))
    [row] = found("ter", corpus, resamples=200).aggregates
    assert 0 <= row.low < (row.value or 0) < (row.high or 0)
    [alike] = found("ter", (["a"] * 4, [["a"]] * 4), resamples=200).aggregates
    assert (alike.value, alike.low) == (0, None)
    assert "every resample has the same value" in str(alike.reason)


def test_cases_without_a_reference_or_an_output_are_unscored() -> None:
    suite = Suite.from_rows(
        "s", "text", [{"case_id": "1", "expected_answers": ["a b"]}, {"case_id": "2", "expected_answers": [" "]},
                      {"case_id": "3", "expected_answers": ["c"]}],
    )  # fmt: skip
    outputs = Outputs.from_rows(
        [{"case_id": "2", "model": "m", "answer": "x"}, {"case_id": "1", "model": "m", "answer": "a"}]
    )
    for name in ("corpus_bleu", "chrf", "ter"):
        own = evaluators()[name](suite, outputs, evaluators()[name].parameters())
        assert (own.aggregates[0].n, own.aggregates[0].unscored) == (1, 2)
        assert [own.cases[case].reason for case in "123"] == [
            None, "no expected answer has text", "the model has no output for this case",
        ]  # fmt: skip
