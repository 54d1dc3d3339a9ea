from collections.abc import Sequence

import pandas as pd
import streamlit as st

from components.data import model_needs
from components.views.setup.worked_examples import draw_examples
from components.widgets import filters, url
from components.widgets.frame import frame
from components.widgets.literal import literal
from components.widgets.parameter_form import fields, value_text
from components.widgets.tables import header, records
from metrics.core.evaluator import Evaluator
from metrics.core.registry import evaluators as catalogue
from metrics.presentation import format
from metrics.presentation.families import FAMILIES, is_found
from metrics.presentation.sources import source_markdown

frame("evaluators", question="What does each evaluator measure, and from what?", needs_run=False)
entries = catalogue()
families = sorted({entry.family for entry in entries.values()})
tasks = sorted({task for entry in entries.values() for task in entry.tasks})


def metric_table(entry: Evaluator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Metric": f"{metric.name} {format.ARROWS[metric.direction.value]}".strip(),
            "Definition": metric.description,
            "Range": format.range_text(metric.low, metric.high),
            "Direction": format.DIRECTIONS[metric.direction.value],
            "Threshold": threshold(entry, metric.threshold),
            "Unit": metric.unit,
            "Shown": "primary" if metric.primary else "on demand" if metric.minor else "yes",
        }
        for metric in entry.metrics
    )


def threshold(entry: Evaluator, declared: float | None) -> str:
    """Return the declared threshold; of metrics that rest on local weights that it is calibrated for them."""
    if declared is None:
        return "by model" if set(entry.needs) - {"judge"} else format.MISSING
    return f"{declared:g}"


def parameter_table(entry: Evaluator) -> pd.DataFrame:
    return pd.DataFrame(
        {"Parameter": one.name, "Meaning": one.description, "Kind": one.kind, "Default": value_text(one.default)}
        for one in fields(model_needs.parameter_schema(entry.id))
    )


def show(entry: Evaluator) -> None:
    """Draw one evaluator in full."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(entry.title, anchor=False, width="stretch")
        if st.button("Evaluate with it", type="primary", icon=":material/arrow_forward:"):
            url.go("evaluate", evaluator=entry.id)
        if st.button("All evaluators"):
            url.put(evaluator=None)
            st.rerun()
    st.text(
        f"{entry.id} · version {entry.version} · for {', '.join(entry.tasks)} · "
        f"needs {words(entry.input_words) or 'nothing beyond the case'} · uses {words(entry.needs) or 'no model'}"
    )
    st.markdown(entry.doc)
    st.markdown("**Metrics**")
    st.dataframe(metric_table(entry), hide_index=True, key="metrics")
    st.markdown("**Worked examples**")
    draw_examples(entry.examples)
    st.markdown("**Parameters**")
    st.dataframe(parameter_table(entry), hide_index=True, key="parameters")
    if entry.prompts:
        st.markdown("**Prompts**")
        st.text(
            "The instruction to the judge, above the texts of the case. It can be edited for one run on New evaluation."
        )
    for prompt in entry.prompts:
        st.text(prompt.id)
        st.code(prompt.text, language=None, wrap_lines=True)
        if prompt.examples:
            st.text(f"{format.plural(len(prompt.examples), 'worked example')}, shown if the judge has examples = few.")
    st.markdown("**Sources**")
    st.markdown("\n".join(f"- {source_markdown(source)}" for source in entry.sources))
    for title, text in (
        ("Differs from the source", entry.differs_from_source),
        ("Similar evaluators", entry.differs_from),
        ("Standards", "\n".join(f"- {standard}" for standard in entry.standards)),
    ):
        if text:
            st.markdown(f"**{title}**")
            st.markdown(text)


def words(names: Sequence[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


family = filters.one("Family", {name: FAMILIES[name] for name in families}, "family")
task = filters.one("Task", {name: name.capitalize() for name in tasks}, "task")
wanted = filters.search("Name or definition", "search")
shown = [
    entry
    for entry in entries.values()
    if family in (None, entry.family) and (task is None or task in entry.tasks) and is_found(entry, wanted)
]
asked = url.param("evaluator")
if asked is not None and asked in entries:
    show(entries[asked])
    st.stop()
if asked:
    st.error(f"There is no evaluator {literal(repr(format.shorten(asked)))}; these are available.")
st.text(
    f"{len(shown)} of {format.plural(len(entries), 'evaluator')}. "
    "Choose one for its formula, examples, parameters and sources."
)
table = pd.DataFrame(
    [
        {
            "id": entry.id,
            "title": entry.title,
            "family": FAMILIES[entry.family],
            "summary": entry.summary,
            "inputs": words(entry.input_words),
            "metrics": len(entry.metrics),
            "uses": words(entry.needs) or format.MISSING,
        }
        for entry in shown
    ],
    columns=["id", "title", "family", "summary", "inputs", "metrics", "uses"],
)
heads = {
    "title": header("Evaluator", 225),
    "summary": header("Definition", 320),
    "inputs": header("Needs", 150),
    "uses": header("Uses", 105),
    "family": header("Family", 155),
}
if (clicked := records(table, heads, key="evaluators", tallest=620)) is not None:
    url.put(evaluator=table["id"].iloc[clicked])
    st.rerun()
