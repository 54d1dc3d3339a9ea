"""The blocks of an answer on a page: sentences with their buttons, tables whose rows lead on, charts, notes."""

from collections.abc import Iterable

import streamlit as st

from components.data import workspace_runs
from components.widgets import url
from components.widgets.frame import is_dark
from components.widgets.literal import literal
from components.widgets.tables import records
from metrics.presentation.blocks import Block, Chart, Head, Link, Note, Sentence, Table
from metrics.presentation.palette import series


def draw_blocks(blocks: Iterable[Block], run: str, here: str, key: str) -> None:
    """Draw sentences, tables, charts and notes about a run on the page `here`; `key` names their widgets."""
    is_first = True
    for place, block in enumerate(blocks):
        if isinstance(block, Sentence):
            draw_sentence(block, run, here, f"{key}-{place}", is_first)
            is_first = is_first and block.link is None
        elif isinstance(block, Table):
            draw_table(block, run, here, key=f"{key}-{place}")
        elif isinstance(block, Note):
            st.caption(literal(block.text))
        elif isinstance(block, Chart):
            draw_chart(block, run, f"{key}-{place}")


def draw_sentence(sentence: Sentence, run: str, here: str, key: str, primary: bool = False) -> None:
    """Draw a sentence, beside it a button that leads on, where it has a link."""
    if sentence.link is None:
        st.text(sentence.text)
        return
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.text(sentence.text, help=literal(sentence.detail) or None)
    if button.button(sentence.link.words, key=key, type="primary" if primary else "secondary", width="stretch"):
        follow(sentence.link, run, here)


def draw_table(table: Table, run: str, here: str, tallest: int = 520, key: str | None = None) -> None:
    """Draw a table; a click on a row follows its link."""
    if (clicked := pick_row(table, tallest, key, clickable=bool(table.links))) is not None:
        follow(table.links[clicked], run, here)


def draw_chart(chart: Chart, run: str, key: str) -> None:
    """Draw a chart under its title, each model in its colour of the run."""
    from components.charts.block_chart import chart_figure
    from components.widgets.chart import draw

    st.text(chart.title)
    models = workspace_runs.run_facts(run).models
    colours = {model: series(is_dark())[place % len(series())] for place, model in enumerate(models)}
    draw(chart_figure(chart, colours, is_dark()), key, chart.title, "ignore")


def pick_row(table: Table, tallest: int = 520, key: str | None = None, *, clickable: bool = True) -> int | None:
    """Draw a table; return the row just clicked. A data frame renders no markup of its texts."""
    import pandas as pd

    heads: dict[str, Head] = {}
    for head in table.heads:
        heads[head.title + "\u200b" * sum(one.title == head.title for one in heads.values())] = head
    frame = pd.DataFrame(list(table.rows), columns=list(heads), dtype=str)
    config = {
        title: st.column_config.Column(
            title, width=head.width, help=head.help or None, alignment="right" if head.right else None
        )
        for title, head in heads.items()
    }
    if table.groups:
        frame.insert(0, "", [title for title, count in table.groups for _ in range(count)])
    if clickable:
        return records(frame, config, key or table.title, tallest)
    st.dataframe(frame, hide_index=True, column_config=config)
    return None


def follow(link: Link, run: str, here: str) -> None:
    """Open what a link of an answer about a run leads to; on the page `here` the other parameters stay."""
    where = {name: list(value) if isinstance(value, tuple) else value for name, value in link.where.items()}
    if link.page != here:
        url.go(link.page, run=run, **where)
    url.put(**where)
    st.rerun()
