"""ROUGE-1/2/L/Lsum and BLEU-1 to -4 against rouge_score and nltk, on pairs of 60 words; tokenizers against sacrebleu's.

    python -m tests.benchmarks.bench_overlap

Printed is the ratio of processor times, the quickest of five rounds each. Limit: fifteen times as fast; the tokenizers
only have to be no slower than half the speed of sacrebleu's on texts that it has not seen before.
"""

from metrics.text.overlap.tokenizers import tokens
from tests.benchmarks.timing import quickest
from tests.evaluators.test_world_texts import TEXTS
from tests.text.overlap.test_bleu import PAIRS, ours, theirs
from tests.text.overlap.test_tokenizers import ORACLES

LEAST = 15.0
LEAST_OF_TOKENIZERS = 0.5


def main() -> None:
    """Measure and print."""
    ratio = quickest(lambda: theirs(PAIRS)) / quickest(lambda: ours(PAIRS))
    print(f"{ratio:.1f} × as fast as rouge_score and nltk on {len(PAIRS)} pairs (at least {LEAST:g} ×)")
    texts = [f"{number} {text}" for pair in TEXTS.values() for text in pair for number in range(20)]
    slow = []
    for name, tokenizer in ORACLES.items():
        oracle = tokenizer()

        def unseen(own=oracle) -> None:
            type(own).__call__.cache_clear()
            if hasattr(own, "_post_tokenizer"):
                type(own._post_tokenizer).__call__.cache_clear()
            for text in texts:
                own(text).split()

        against = quickest(unseen) / quickest(lambda own=name: [tokens(text, own) for text in texts])
        slow.append(against < LEAST_OF_TOKENIZERS)
        print(f"tokenizer {name}: {against:.1f} × as fast as sacrebleu's on {len(texts)} texts of {len(TEXTS)} kinds")
    raise SystemExit(ratio < LEAST or any(slow))


if __name__ == "__main__":
    main()
