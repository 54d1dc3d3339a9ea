"""Which column of a file is which: what was understood, questions for what was not, and selectboxes to correct it."""

from collections.abc import Mapping, Sequence
from typing import Any

from components.widgets import url
from components.widgets.controls import agreed

NONE = "–"
METADATA = "metadata."  # what a column is called that is nothing known
WORDS = {  # canonical name: what a user calls it
    "case_id": "case id", "question": "question", "expected_answers": "expected answers", "answer": "answer",
    "reference_contexts": "reference contexts", "retrieved_contexts": "retrieved contexts", "model": "model",
    "conditions": "conditions", "json_schema": "JSON schema", "source_text": "source text", "label": "true label",
    "predicted_label": "predicted label", "score": "score", "tags": "tags", "annotations": "ground-truth objects",
    "predictions": "predicted objects or labels", "citations": "citations", "trace": "trace", "duration_s": "duration",
    "cost_usd": "cost, USD", "run": "repeat", "perturbs": "perturbs", "is_crowd": "is crowd",
}  # fmt: skip


def words(canonical: str) -> str:
    """Return a canonical name as a user calls it."""
    if canonical.startswith(METADATA):
        return "neither: keep it as it is"
    return WORDS.get(canonical, canonical.replace("_", " "))


def parse(pairs: Sequence[str]) -> dict[str, str]:
    """`canonical=column` pairs as a mapping; what has no `=` is passed over."""
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)  # type: ignore[misc]


def changed(pairs: Sequence[str], canonical: str, column: str | None, before: str | None = None) -> list[str]:
    """Return the pairs with `canonical` mapped to `column`; None: to none, `before` is kept as metadata."""
    mapping = {name: taken for name, taken in parse(pairs).items() if taken != column and name != canonical}
    if column is not None:
        mapping[canonical] = column  # a column has one meaning, so what else it meant is gone
    elif before is not None:
        mapping[METADATA + before] = before
    return [f"{name}={taken}" for name, taken in mapping.items()]


def draw_questions(questions: Sequence[Mapping[str, Any]], name: str) -> None:
    """A question per ambiguous column; the answer goes into the address under `name`."""
    import streamlit as st

    for question in questions:
        with st.container(border=True):
            st.text(f"Column “{question['column']}”: {question['text']}")
            key = f"ask-{name}-{question['column']}"
            st.segmented_control(
                "Meaning", list(question["choices"]), format_func=words, key=key, label_visibility="collapsed",
                on_change=_answer, args=(name, key, str(question["column"])),
            )  # fmt: skip


def draw_mapping(preview: Mapping[str, Any], name: str) -> None:
    """A selectbox per canonical column that the file has or could have, three in a row; corrections go to `name`.

    The preview may have `words` of its own for canonical names.
    """
    import streamlit as st

    places = st.columns(3)
    columns = preview["columns"]
    shown = [*columns, *(canonical for canonical in preview["canonical"] if canonical not in columns)]
    for index, canonical in enumerate(shown):
        options = [NONE, *preview["file_columns"]]
        chosen = columns.get(canonical, NONE)
        key = f"map-{name}-{canonical}"
        options = options if chosen in options else [*options, chosen]
        with places[index % 3]:
            st.selectbox(
                preview.get("words", {}).get(canonical) or words(canonical), options,
                options.index(agreed(key, chosen) or NONE), key=key, on_change=_correct,
                args=(name, key, canonical, columns.get(canonical)),
            )  # fmt: skip


def summary(preview: Mapping[str, Any]) -> str:
    """Return what was understood, in a line: `question ← user_input · 2 kept as they are`."""
    understood = " · ".join(
        words(canonical) if canonical == column else f"{words(canonical)} ← {column}"
        for canonical, column in preview["columns"].items()
    )
    others = [f"{len(preview[kind])} {text}" for kind, text in OTHERS.items() if preview[kind]]
    return " · ".join([understood, *others] if understood else others)


OTHERS = {"unmapped": "kept as metadata", "ignored": "passed over"}


def _answer(name: str, key: str, column: str) -> None:
    import streamlit as st

    choice = st.session_state[key]
    if choice is not None:
        url.put(**{name: changed(url.params(name), choice, column)})


def _correct(name: str, key: str, canonical: str, before: str | None) -> None:
    import streamlit as st

    column = st.session_state[key]
    url.put(**{name: changed(url.params(name), canonical, None if column == NONE else column, before)})
