"""ROUGE-1/2/L/Lsum and BLEU-1 to -4 against rouge_score and nltk, on pairs of 60 words.

    python -m tests.benchmarks.bench_overlap

Printed is the ratio of processor times, the quickest of five rounds each. Limit: five times as fast.
"""

from tests.benchmarks.timing import quickest
from tests.text.overlap.test_bleu import PAIRS, ours, theirs

LEAST = 5.0


def main() -> None:
    """Measure and print."""
    ratio = quickest(lambda: theirs(PAIRS)) / quickest(lambda: ours(PAIRS))
    print(f"{ratio:.1f} × as fast as rouge_score and nltk on {len(PAIRS)} pairs (at least {LEAST:g} ×)")
    raise SystemExit(ratio < LEAST)


if __name__ == "__main__":
    main()
