"""A list of texts, each in a field of its own."""

from collections.abc import Sequence

import streamlit as st


def text_list(label: str, values: Sequence[str], key: str, help: str | None = None) -> list[str]:
    """Draw a field for each text, with buttons to remove and to add one; return the texts that are not blank."""
    numbers = st.session_state.setdefault(f"{key}-numbers", list(range(max(1, len(values)))))
    found = []
    for place, number in enumerate(numbers, 1):
        field, close = st.columns([15, 1], vertical_alignment="center", gap="small")
        start = values[number] if number < len(values) else ""
        found.append(
            field.text_area(
                label if len(numbers) == 1 else f"{label} {place}",
                start,
                key=f"{key}-{number}",
                height="content",
                help=help if place == 1 else None,
            )
        )
        close.button(
            "",
            key=f"{key}-remove-{number}",
            icon=":material/close:",
            type="tertiary",
            help="Remove this one",
            on_click=numbers.remove,
            args=(number,),
        )
    st.button(
        "Add another",
        key=f"{key}-add",
        icon=":material/add:",
        type="tertiary",
        on_click=lambda: numbers.append(max([*numbers, len(values) - 1], default=-1) + 1),
    )
    return [text for text in found if text.strip()]
