"""What was tested in a run, page after page: how many tests, which correction, and what no correction covers."""

import streamlit as st

from components.data import run_reads
from components.widgets.tables import header, numeric
from metrics.analysis import CorrectedTests
from metrics.presentation import tested_words

KEY = "what-was-tested"
SEEN = "tested"  # in the session: of each run the questions that were asked on its pages


def remember(run: str, *asked: CorrectedTests) -> None:
    """Keep the tests that a page just showed, for the list on every page of the run."""
    _asked(run).update({one.question: one for one in asked if one.tests})


def draw(run: str, *asked: CorrectedTests) -> None:
    """Draw the list, folded: what every look at the run tests, then what this session asked on its pages."""
    remember(run, *asked)
    folded = st.expander("What was tested, how often, with which correction", key=KEY, on_change="rerun")
    if folded.open:  # else nothing is counted: the first page of a visit must not wait for it
        with folded:
            _draw_list(list(({one.question: one for one in run_reads.corrected_tests(run)} | _asked(run)).values()))


def _draw_list(rows: list[CorrectedTests]) -> None:
    import pandas as pd

    if not rows:
        st.text("Nothing was tested: there are no two models, or no values to compare them by.")
        return
    st.text(tested_words.caution(rows))
    table = pd.DataFrame([tested_words.question_row(one) for one in rows], columns=list(tested_words.HEADS))
    st.dataframe(table, hide_index=True, column_config=COLUMNS)
    st.caption("The ranks, and what you looked at in this session: comparisons, slices, trends, head to head.")


def _asked(run: str) -> dict[str, CorrectedTests]:
    """Return the tests that this session has seen of a run, by their question."""
    found: dict[str, CorrectedTests] = st.session_state.setdefault(SEEN, {}).setdefault(run, {})
    return found


COLUMNS = {
    "Question": header("Question", 420),
    "Tests": numeric("Tests", 70),
    "Correction": header("Correction", 320, "Over which tests the chance of any false finding is at most 5 %."),
    "Found": numeric("Found", 70, "Significant at 5 % after the correction; – where only ranks come of the tests."),
}
