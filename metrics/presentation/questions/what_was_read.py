"""What was read of the files: what became of each column, field, member of an archive and row."""

from metrics.core.receipt import ORDER, WORDS
from metrics.presentation.blocks import Block, Head, Note, Sentence, table
from metrics.presentation.format import count, plural
from metrics.presentation.phrases import named
from metrics.presentation.question import question
from metrics.store import Run

MOST_LINES = 60  # of the table
HEADS = (
    Head("File", width=130), Head("Part", width=190), Head("What became of it", width=130),
    Head("As what, or why", width=440), Head("Count", right=True, width=70), "Such as",
)  # fmt: skip


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
    rows = [
        (
            line.file,
            line.place,
            WORDS[line.use],
            line.meaning,
            "" if line.count is None else count(line.count),
            line.example,
        )
        for line in shown
    ]
    left = len(receipt) - len(shown)
    notes = [Note(f"{plural(left, 'more part')} that are used; `run.receipt` has all.")] if left else []
    return [Sentence(said), table("Receipt", HEADS, rows), *notes]
