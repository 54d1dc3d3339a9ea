"""What a run's pages say of it folded: how its models were asked, what was read and tested, what else it answers.

What takes time is counted once it is unfolded: the first page of a visit must not wait for it.
"""

import json
from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.data import run_reads
from components.viewers import blocks
from components.widgets import column_mapping
from metrics.analysis import CorrectedTests
from metrics.core.receipt import Receipt, short_lines

SEEN = "tested"  # in the session: of each run the questions that were asked on its pages


def draw_asked_models(run: str) -> None:
    """Draw a button that opens the descriptions of the models that were asked; nothing where answers were uploaded."""
    found = run_reads.targets(run)
    if not found:
        return
    with st.popover("How the models were asked", icon=":material/input:"):
        for name, target in found.items():
            st.text(name)
            st.code(json.dumps(target, ensure_ascii=False, indent=1), language=None, wrap_lines=True)


def draw_answers(run: str, here: str) -> None:
    """Draw what the other questions about a run answer, a sentence each, with a button to the page of each."""
    folded = st.expander("Other answers about this run", key="short-answers", on_change="rerun")
    if not folded.open:
        return
    with folded:
        sentences = run_reads.short_answers(run)
        for place, sentence in enumerate(sentences):
            blocks.draw_sentence(sentence, run, here, f"short-answers-{place}")
        if not sentences:
            st.text("Nothing else is answered without being asked: see the pages.")


def draw_receipt(receipt: Receipt, tokens: Mapping[str, str], folded: DeltaGenerator) -> None:
    """Draw what was decided about uploads; where it is folded a line for each, and what became of every part.

    tokens: of the uploads, by their names.
    """
    from metrics.presentation.questions.what_was_read import receipt_table

    if not receipt:
        return
    column_mapping.draw_decided(receipt, tokens)
    with folded:
        st.text("What became of each part")
        for line in short_lines(receipt):
            st.text(line)
        blocks.draw_table(receipt_table(receipt), "", "evaluate")


def draw_read(run: str, here: str) -> None:
    """Draw what became of each part of the files of a finished run."""
    folded = st.expander("What was read of the files", key="what-was-read", on_change="rerun")
    if folded.open:
        with folded:
            found = run_reads.what_was_read(run)
            blocks.draw_blocks(found, run, here, "what-was-read")
            if not found:
                st.text("This run was made from a sample, from stored inputs, or by a version that kept no receipt.")


def remember_tests(run: str, *asked: CorrectedTests) -> None:
    """Keep the tests that a page just showed, for the list on every page of the run."""
    _seen_tests(run).update({one.question: one for one in asked if one.tests})


def draw_tests(run: str, *asked: CorrectedTests) -> None:
    """Draw how much was tested with which correction, by every look at the run, then by what this session asked."""
    remember_tests(run, *asked)
    folded = st.expander("What was tested, how often, with which correction", key="what-was-tested", on_change="rerun")
    if folded.open:
        with folded:
            tests = {one.question: one for one in run_reads.corrected_tests(run)} | _seen_tests(run)
            _draw_tests(run, list(tests.values()))


def _draw_tests(run: str, rows: list[CorrectedTests]) -> None:
    from metrics.presentation.questions.what_was_tested import tests_blocks

    if not rows:
        st.text("Nothing was tested: there are no two models, or no values to compare them by.")
        return
    blocks.draw_blocks(tests_blocks(rows), run, "", "tests")
    st.caption("The ranks, and what you looked at in this session: comparisons, slices, trends, head to head.")


def _seen_tests(run: str) -> dict[str, CorrectedTests]:
    """Return the tests that this session has seen of a run, by their question."""
    found: dict[str, CorrectedTests] = st.session_state.setdefault(SEEN, {}).setdefault(run, {})
    return found
