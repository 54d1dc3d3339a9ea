"""A person's verdict on an output, given beside the judge's: one click overrules it and is kept as a label."""

import streamlit as st

from components.data import agreements
from components.views.judge import label_entry
from components.views.judge.rating_queue import LONGEST
from components.widgets import controls
from components.widgets.literal import literal

UNNAMED = "unnamed"  # the rater of labels given without a name
HELP = (
    "Kept as your label of this output: the page Agreement compares it with the judge. You have seen the judge's "
    "verdict, so it counts for this output alone, not for what is said of all outputs. Click it again to remove it."
)
About = tuple[str, str, str, str]  # case, model, rater, criterion


def draw(run: str, case_id: str, model: str, rater: str, criterion: str, title: str, key: str) -> None:
    """Draw the labels of the criterion's scale as buttons in a row under its title, the rater's present one chosen."""
    about = (case_id, model, rater[:LONGEST] or UNNAMED, criterion)
    given = agreements.label_given(run, *about)
    scale = next((label_entry.scale_of(one) for one in agreements.label_criteria(run) if one.name == criterion), "pass")
    values = {text: value for text, value, _ in label_entry.buttons(scale)}
    chosen = next((text for text, value in values.items() if given and value == given["value"]), None)
    key = f"verdict-{key}"
    st.segmented_control(
        f"Your verdict: {literal(title)}", list(values), default=controls.agreed(key, chosen), key=key, help=HELP,
        on_change=_give, args=(run, about, values, scale, key),
    )  # fmt: skip


def _give(run: str, about: About, values: dict[str, float | None], scale: str, key: str) -> None:
    """Keep the label that was clicked; without one, remove the rater's own."""
    text = st.session_state[key]
    if text is None:
        agreements.withdraw_label(run, *about)
        return
    before = agreements.label_given(run, *about)  # an output that was drawn at random stays one
    sampling = before["sampling"] if before else "seen"
    agreements.give_label(run, *about, values[text], sampling, label_entry.ends_of(scale))
