"""Views of bars with intervals: one number per class, and what each kind of error costs."""

import math

import streamlit as st

from components import data, filters, format, url
from components.charts import bars
from components.frame import is_dark
from components.views import parts

ERRORS = {  # d_ap_…: what it is called, the kinds of its matches; an empty line sets the sums apart
    "classification": ("wrong class", ("fp_misclassification",)),
    "localisation": ("poorly placed", ("fp_localisation",)),
    "both": ("both wrong", ("fp_both",)),
    "duplicate": ("found twice", ("fp_duplicate",)),
    "background": ("nothing there", ("fp_hallucination",)),
    "missed": ("missed", ("fn_no_prediction",)),
    "": ("", ()),
    "false_positives": (
        "all false",
        ("fp_misclassification", "fp_localisation", "fp_both", "fp_duplicate", "fp_hallucination"),
    ),
    "false_negatives": ("all missed", ("fn_no_prediction", "fn_misclassification", "fn_localisation")),
}
GAIN = "d_ap_"


def show_labels(run: str, evaluator: str) -> None:
    """One metric of each class, the models beside each other, the worst class first."""
    declared = {metric["name"]: metric for metric in data.catalogue()[evaluator]["metrics"]}
    offered = {name: format.title(name) for name in data.label_metrics(run)[evaluator]}
    name = filters.one("Metric", offered, "metric", every=None) or next(iter(offered))
    metric = declared[name]
    numbers = data.label_numbers(run, evaluator, (name,))
    numbers = numbers[numbers["label"].notna()]
    variants = {text: text for text in dict.fromkeys(numbers["variant"])}
    variant = filters.one("At", variants, "at", every=None) if len(variants) > 1 else next(iter(variants))
    models = data.run_facts(run)["models"]
    colours = parts.colours_of(models)
    chosen = filters.many("Models", {model: model for model in models}, "model") or models[: parts.LINES]
    filters.reset(["metric", "at", "model"])
    numbers = numbers[(numbers["variant"] == variant) & numbers["series"].isin(chosen)]
    numbers = numbers.assign(name=numbers["label"], key=numbers["label"])
    order = bars.worst_first(numbers, metric["direction"])
    bounds = (metric["low"], metric["high"]) if math.isfinite(metric["high"] - metric["low"]) else None
    left, right = st.columns(parts.COLUMNS)
    title = f"{format.title(name)} {format.ARROWS[metric['direction']]}" + (f", {variant}" if variant else "")
    figure = bars.bars_figure(numbers, colours, metric["unit"], is_dark(), bounds, order)
    with left:
        st.text(title, help=metric["description"])
        with st.container(height=500 if figure.layout.height > 500 else "content", border=False):
            st.plotly_chart(figure, key="labels", config=parts.CHART, alt=f"{title} of each class, the worst first")
    with right:
        st.text(f"{metric['description']} {format.DIRECTIONS[metric['direction']].capitalize()}.")
        numbers = parts.of_labels(numbers.drop(columns=["name", "key"]), order)
        parts.numbers_table(numbers, "value", chosen, height=400)


def show_breakdown(run: str, evaluator: str) -> None:
    """What average precision each kind of error costs, and the objects behind a bar."""
    declared = {metric["name"]: metric for metric in data.catalogue()[evaluator]["metrics"]}
    numbers = data.label_numbers(run, evaluator, tuple(declared))
    models = data.run_facts(run)["models"]
    colours = parts.colours_of(models)
    chosen = filters.many("Models", {model: model for model in models}, "model") or models[: parts.LINES]
    labels = list(dict.fromkeys(numbers["label"].dropna()))
    label = filters.one("Class", {name: name for name in labels}, "label", every="All classes")
    filters.reset(["model", "label"])
    numbers = numbers[numbers["series"].isin(chosen)]
    numbers = numbers[numbers["label"] == label if label else numbers["label"].isna()]
    gains = numbers[numbers["metric"].str.startswith(GAIN)]
    errors = gains["metric"].str.removeprefix(GAIN)
    gains = gains.assign(key=errors, name=[ERRORS[error][0] for error in errors])
    order = [title for title, _ in ERRORS.values()]
    left, right = st.columns(parts.COLUMNS)
    with left:
        st.text(f"AP gained without the error, {label or 'mean of classes'} ↓")
        st.plotly_chart(
            bars.bars_figure(gains, colours, "AP", is_dark(), None, order), key="breakdown", config=parts.CHART,
            on_select=lambda: parts.pick("breakdown", ("of", "error")), selection_mode="points",
            alt=f"Average precision that each kind of error costs {', '.join(chosen)}",
        )  # fmt: skip
    of, error = url.param("of"), url.param("error")
    with right:
        if of in chosen and error in ERRORS:
            _show_errors(run, evaluator, of, error, label)
            return
        st.text("AP as it is", help=declared["ap"]["description"])
        parts.numbers_table(numbers[numbers["metric"] == "ap"].assign(label=None), "AP", chosen)
        meanings = [
            f"**{title}** – {declared[GAIN + error]['description']}" for error, (title, _) in ERRORS.items() if error
        ]
        st.caption("  \n".join(meanings[:6]))
        st.caption("Click a bar to see its objects. The gains do not add up: AP is no sum over errors.")


def _show_errors(run: str, evaluator: str, of: str, error: str, label: str | None) -> None:
    title, kinds = ERRORS[error]
    rows, total = data.matched(run, evaluator, of, kinds, label)
    st.text(f"{of}: {title}" + (f", {label}" if label else ""))
    rows = rows.drop(columns="label") if label else rows
    rows = rows.drop(columns="kind") if len(kinds) == 1 else rows
    parts.list_things(
        run, rows, total, f"errors-{of}-{error}-{label}", parts.words(run), of, evaluator=evaluator, label=label
    )
    parts.back("Back to the errors", "of", "error")
