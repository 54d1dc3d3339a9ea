"""What is broken: damaged files, answers that are empty or too short to compare, extracts that tell nothing."""

import pandas as pd

from metrics.analysis.findings.problems import problems
from metrics.core.registry import title_of
from metrics.presentation.blocks import Block, Head, Link, Note, Sentence, Table, table_of
from metrics.presentation.format import count, plural
from metrics.presentation.question import QUICK, question
from metrics.presentation.safe_text import safe
from metrics.store import Run

MAX_ROWS = 30  # in a report
KINDS = {
    "artifact": "Broken file",
    "blank": "Empty answers",
    "empty": "Too short to compare",
    "extract": "Extract finds nothing",
}


@question(
    "defects", "Defects", "Which files are broken, and which answers are too short to compare?", "problems", short=QUICK
)
def what_is_broken(run: Run) -> list[Block]:
    """Return the defects, files first; nothing for a run without any."""
    found = problems(run)
    found = found[found["kind"].isin(list(KINDS))]
    if found.empty:
        return []
    more = len(found) - MAX_ROWS
    notes = [Note(f"{plural(more, 'more defect')}; export --what problems has all.")] if more > 0 else []
    link = Link("problems", "See the defects", {"view": "defects"})
    return [Sentence(answer(found), link=link), defects_table(found[:MAX_ROWS]), *notes]


def answer(found: pd.DataFrame) -> str:
    """Return how many defects there are, in a sentence, and in full those that make a metric void.

    `found` has rows of analysis.problems.
    """
    void = [safe(message) + "." for message in found.loc[found["kind"] == "extract", "message"].head(3)]
    return " ".join([f"{plural(len(found), 'defect')} in {plural(found['model'].nunique(), 'model')}.", *void])


def defects_table(found: pd.DataFrame) -> Table:
    """Return the defects; a row leads to its case, or the first of several."""
    rows = found.to_dict("records")
    about = ("evaluator", "metric", "model")
    addresses = ({"case": row["case_ids"][0]} | {name: row[name] for name in about} for row in rows)
    return table_of(
        "Files and answers",
        (Head("Defect", width=150), [KINDS[row["kind"]] for row in rows]),
        (Head("Model", width=130), [row["model"] for row in rows]),
        (Head("Evaluator", width=150), ["" if row["kind"] == "blank" else title_of(row["evaluator"]) for row in rows]),
        (Head("What is wrong", width=420), [safe(row["message"]) for row in rows]),
        (Head("Cases", True, "how many cases it is about", 60), [count(row["affected"]) for row in rows]),
        links=[Link("case", "Open the case", where) for where in addresses],
    )
