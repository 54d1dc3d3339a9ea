"""Corpus BLEU, chrF, TER and METEOR against sacrebleu and nltk, edit distances against jiwer where it is installed.

    python -m tests.benchmarks.bench_text_scores

Printed is the ratio of processor times over 450 pairs of 60 words, the quickest of three rounds each, evidence of every
case and 500 resamples included on both sides where the peer has resamples. Limit: no slower.
"""

import logging
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from nltk.translate.meteor_score import meteor_score
from sacrebleu.metrics import BLEU, CHRF, TER

from metrics.core.cases import Cases
from metrics.core.evaluator import Evaluator
from metrics.core.registry import evaluators
from metrics.core.suite import Case, Outputs, Suite
from metrics.text.overlap.tokenizers import tokens
from tests.benchmarks.table import Row, report, versions
from tests.benchmarks.timing import quickest
from tests.text.overlap.test_bleu import PAIRS
from tests.text.overlap.test_meteor import NoSynonyms

TEXTS = [(f"{reference} {number}", f"{answer} {number}") for number in range(3) for reference, answer in PAIRS]
SUITE = Suite.from_rows(
    "s", "text", [{"case_id": str(n), "expected_answers": [reference]} for n, (reference, _) in enumerate(TEXTS)]
)
OUTPUTS = Outputs.from_rows(
    [{"case_id": str(n), "model": "m", "answer": answer} for n, (_, answer) in enumerate(TEXTS)]
)
CASES = Cases.of([Case.of(answer=answer, expected_answers=[reference]) for reference, answer in TEXTS])
ANSWERS, REFERENCES = [answer for _, answer in TEXTS], [[reference for reference, _ in TEXTS]]


def main() -> None:
    logging.disable(logging.WARNING)  # sacrebleu's advice
    own: dict[str, Evaluator] = evaluators()
    peers: dict[str, tuple[Callable[[], object], str]] = {
        "corpus_bleu": (lambda: scored(BLEU(effective_order=True)), "sacrebleu"),
        "chrf": (lambda: [scored(CHRF()), scored(CHRF(word_order=2))], "sacrebleu"),
        "ter": (lambda: scored(TER()), "sacrebleu"),
        "meteor": (meteors, "nltk"),
    }
    if find_spec("jiwer"):
        peers["edit_distance"] = (error_rates, "jiwer")
    rows = []
    for name, (peer, package) in peers.items():
        entry = own[name]
        given = (SUITE, OUTPUTS) if entry.shape == "dataset" else (CASES,)

        def ours(entry: Evaluator = entry, given: Any = given) -> object:
            return entry(*given, entry.parameters())

        ours()  # what is compiled is compiled
        times = (1e3 * quickest(action, tries=3) for action in (ours, peer))
        mine, theirs = times
        title = f"{entry.title} of {len(TEXTS)} pairs of 60 words"
        rows.append(Row(title, mine, "ms", theirs, versions(package), least=1.0))
    report(rows)


def scored(metric: Any) -> None:
    """Score the corpus, its resamples and every text by sacrebleu, which has not seen them before."""
    if hasattr(metric, "tokenizer"):
        type(metric.tokenizer).__call__.cache_clear()
    metric.corpus_score(ANSWERS, REFERENCES, n_bootstrap=500)
    for answer, reference in zip(ANSWERS, REFERENCES[0], strict=True):
        metric.sentence_score(answer, [reference])


def meteors() -> None:
    """Score every text by nltk, cut into the same tokens."""
    for reference, answer in TEXTS:
        meteor_score([tokens(reference, "13a")], tokens(answer, "13a"), wordnet=NoSynonyms())


def error_rates() -> None:
    """Score every text by jiwer, characters and words."""
    import jiwer  # type: ignore[import-not-found,unused-ignore]

    for reference, answer in TEXTS:
        jiwer.process_words(reference, answer)
        jiwer.process_characters(reference, answer)


if __name__ == "__main__":
    main()
