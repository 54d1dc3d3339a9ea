"""ROUGE-1/2/L/Lsum and BLEU-1 to -4 against rouge_score and nltk, on pairs of 60 words; tokenizers against sacrebleu's.

    python -m tests.benchmarks.bench_overlap

Printed is the ratio of processor times, the quickest of five rounds each. Limit: fifteen times as fast; the tokenizers
only have to be no slower than half the speed of sacrebleu's on texts that it has not seen before.
"""

from metrics.text.overlap.tokenizers import tokens
from tests.benchmarks.table import Row, report, versions
from tests.benchmarks.timing import quickest
from tests.evaluators.test_world_texts import TEXTS
from tests.text.overlap.test_bleu import PAIRS, ours, theirs
from tests.text.overlap.test_tokenizers import ORACLES

LEAST = 15.0
LEAST_OF_TOKENIZERS = 0.5


def main() -> None:
    title = f"ROUGE-1/2/L/Lsum and BLEU-1…4 of {len(PAIRS)} pairs of 60 words"
    peer, own = (1e3 * quickest(lambda action=action: action(PAIRS)) for action in (theirs, ours))
    rows = [Row(title, own, "ms", peer, versions("rouge_score", "nltk"), least=LEAST, readme="ROUGE and BLEU")]
    texts = [f"{number} {text}" for pair in TEXTS.values() for text in pair for number in range(20)]
    for name, tokenizer in ORACLES.items():
        oracle = tokenizer()

        def unseen(own=oracle) -> None:
            type(own).__call__.cache_clear()
            if hasattr(own, "_post_tokenizer"):
                type(own._post_tokenizer).__call__.cache_clear()
            for text in texts:
                own(text).split()

        peer, own = 1e3 * quickest(unseen), 1e3 * quickest(lambda own=name: [tokens(text, own) for text in texts])
        title = f"tokenizer {name} on {len(texts)} texts of {len(TEXTS)} kinds"
        rows.append(Row(title, own, "ms", peer, versions("sacrebleu"), least=LEAST_OF_TOKENIZERS))
    report(rows)


if __name__ == "__main__":
    main()
