"""What was read of the files: what became of each column, field, member of an archive and row."""

from collections.abc import Sequence

from metrics.core.receipt import ORDER, WORDS, ReceiptLine
from metrics.presentation.blocks import Block, Head, Note, Sentence, Table, table_of
from metrics.presentation.format import count, plural
from metrics.presentation.phrases import named
from metrics.presentation.question import question
from metrics.store import Run

MOST_LINES = 60  # of the table


@question("receipt", "What was read", "What became of each part of the files?", "leaderboard", appendix=True)
def what_was_read(run: Run) -> list[Block]:
    """Return what became of each part of the files, what is not used and what was decided first."""
    receipt = run.spec.receipt
    if not receipt:
        return []
    counts = [(use, sum(line.use == use for line in receipt)) for use in reversed(ORDER)]
    parts = named([f"{count(number)} {WORDS[use]}" for use, number in counts if number])
    said = f"Of {plural(len({line.file for line in receipt}), 'file')}, {plural(len(receipt), 'part')}: {parts}."
    shown = sorted(receipt, key=lambda line: ORDER.index(line.use))[:MOST_LINES]
    left = len(receipt) - len(shown)
    notes = [Note(f"{plural(left, 'more part')} that are used; `run.receipt` has all.")] if left else []
    return [Sentence(said), receipt_table(shown), *notes]


def receipt_table(receipt: Sequence[ReceiptLine]) -> Table:
    """Return what became of each part of the files, a row a part."""
    counts = ["" if line.count is None else count(line.count) for line in receipt]
    return table_of(
        "Receipt",
        (Head("File", width=130), [line.file for line in receipt]),
        (Head("Part", width=190), [line.place for line in receipt]),
        (Head("What became of it", width=130), [WORDS[line.use] for line in receipt]),
        (Head("As what, or why", width=440), [line.meaning for line in receipt]),
        (Head("Count", True, width=70), counts),
        (Head("Such as"), [line.example for line in receipt]),
    )
