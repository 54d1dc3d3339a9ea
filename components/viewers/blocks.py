"""The blocks of an answer on a page: sentences with their buttons, tables whose rows lead on, notes."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from components.widgets import url
from components.widgets.literal import literal
from components.widgets.tables import records
from metrics.presentation.blocks import Block, Link, Note, Sentence, Table


def draw_blocks(blocks: Iterable[Block], run: str, here: str, key: str) -> None:
    """Draw the sentences, tables and notes of an answer about a run on the page `here`; `key` names their widgets."""
    for place, block in enumerate(blocks):
        if isinstance(block, Sentence):
            draw_sentence(block, run, here, f"{key}-{place}")
        elif isinstance(block, Table):
            draw_table(block, run, here, key=f"{key}-{place}")
        elif isinstance(block, Note):
            st.caption(literal(block.text))


def draw_sentence(sentence: Sentence, run: str, here: str, key: str, primary: bool = False) -> None:
    """Draw a sentence, beside it a button that leads on, where it has a link."""
    if sentence.link is None:
        st.text(sentence.text)
        return
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.text(sentence.text, help=sentence.detail or None)
    kind = "primary" if primary else "secondary"
    if button.button(sentence.link.words, key=key, type=kind, width="stretch"):  # type: ignore[arg-type]
        follow(sentence.link, run, here)


def draw_table(table: Table, run: str, here: str, tallest: int = 520, key: str | None = None) -> None:
    """Draw a table of distinct heads; a click on a row follows its link. A data frame renders no markup."""
    import pandas as pd

    heads = {head.title: head for head in table.heads}
    frame = pd.DataFrame(list(table.rows), columns=list(heads), dtype=str)
    config = {
        title: st.column_config.Column(
            title, width=head.width, help=head.help or None, alignment="right" if head.right else None
        )
        for title, head in heads.items()
    }
    if table.groups:
        frame.insert(0, "", [title for title, count in table.groups for _ in range(count)])
    if not table.links:
        st.dataframe(frame, hide_index=True, column_config=config)
        return
    clicked = records(frame, config, key or table.title, tallest)
    if clicked is not None:
        follow(table.links[clicked], run, here)


def follow(link: Link, run: str, here: str) -> None:
    """Open what a link of an answer about a run leads to; on the page `here` the other parameters stay."""
    where = {name: list(value) if isinstance(value, tuple) else value for name, value in link.where.items()}
    if link.page != here:
        url.go(link.page, run=run, **where)
    url.put(**where)
    st.rerun()
