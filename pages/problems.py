from collections.abc import Hashable
from typing import Any

import pandas as pd
import streamlit as st

from components.data import judge_settings, run_reads, workspace_runs
from components.viewers import blocks
from components.views.judge import judge_calls
from components.views.results.flip_rates import show_flips
from components.views.results.insight_list import show_insights
from components.widgets import controls, drilldown_filters, filters, url
from components.widgets.frame import begin, frame
from metrics.core.conventions import limit
from metrics.presentation import format
from metrics.presentation.blocks import Head, table_of
from metrics.presentation.format import metric_name
from metrics.presentation.questions import what_went_wrong
from metrics.presentation.questions.do_small_changes_matter import count_flips
from metrics.presentation.questions.what_is_broken import KINDS, answer, defects_table

LIMIT = ["threshold", "direction", "threshold_of"]
SEVERITIES = {
    "high": "Significant",  # the whole 95 % interval is on the wrong side
    "unknown": "No interval",
    "low": "Uncertain",
}
CERTAIN = "significant: the whole 95 % interval is on the wrong side"
FAILING = "cases on the wrong side of the threshold; of objects, images with an error"
OF_ONE_VIEW = ("list", "evaluator", "model", "severity", "perturbation", "about", "insight", "of_model", "of_evaluator",
               "of_metric", "of_perturbation")  # fmt: skip


def show_defects(run: str, found: pd.DataFrame) -> None:
    """Draw the defects; a click opens the case, or the first of several."""
    if found.empty:
        st.info(
            "No broken file and no empty answer was found. Agent sanity checks files; evaluators that compare by "
            "embeddings report answers without a sentence."
        )
        return
    models = filters.many("Models", list(found["model"].unique()), "model")
    filters.reset(["model"])
    shown = found[found["model"].isin(models)] if models else found
    st.text(answer(shown))
    blocks.draw_table(defects_table(shown), run, "problems", 430, "defects")
    st.caption("Click a defect to see its case.")


def counted(name: str, labels: dict[str, str]) -> dict[str, str]:
    counts = every[name].value_counts()
    return {value: f"{label} ({counts[value]})" for value, label in labels.items() if value in counts}


def open_cases(row: dict[Hashable, Any]) -> None:
    """Open the objects behind a problem if the evaluator stores its matches, else its failing cases."""
    if row["evaluator"] in objects:
        chosen = drilldown_filters.number(
            row["evaluator"], row["metric"], workspace_runs.run_facts(run).evaluators[row["evaluator"]]
        )
        url.go("gallery", run=run, model=row["model"], **chosen)
    about = {name: row[name] for name in ("evaluator", "metric", "model")}
    url.go("cases", run=run, failing=bool(row["affected"] == row["affected"] and row["case_ids"]), **about)


def show_groups(shown: pd.DataFrame) -> None:
    """Draw the problems of each model with each evaluator as one row; a click shows its metrics."""
    groups = [(str(name[0]), str(name[1]), rows) for name, rows in shown.groupby(["model", "evaluator"], sort=False)]
    worst = [
        f"{metric_name(rows['metric'].iloc[0], evaluator)} {format.number(rows['value'].iloc[0])}, "
        f"threshold {limit(*rows.iloc[0][LIMIT])}"
        for _, evaluator, rows in groups
    ]
    names = [", ".join(metric_name(metric, name) for metric in rows["metric"].unique()) for _, name, rows in groups]
    counts = [
        (Head("Problems", True, "metrics on the wrong side", 80), [str(len(rows)) for *_, rows in groups]),
        (Head("Metrics", width=144), names),
    ]
    severities = [SEVERITIES[rows["severity"].iloc[0]] for *_, rows in groups]
    table = table_of(
        "problem-groups",
        (Head("Severity", False, f"of the worst; {CERTAIN}", 104), severities),
        (Head("Model", width=150), [model for model, *_ in groups]),
        (Head("Evaluator", width=180), [titles[evaluator] for _, evaluator, _ in groups]),
        (Head("Worst", width=300), worst),
        *(counts if any(len(rows) > 1 for *_, rows in groups) else []),  # else the worst says it all
    )
    clicked = blocks.pick_row(table, 430)
    st.caption("Click a row to see its metrics, then one of these to see its cases.")
    if clicked is not None:
        model, evaluator, _ = groups[clicked]
        url.go("problems", run=run, model=model, evaluator=evaluator, list="metrics")


def show_thresholds() -> None:
    """Draw the models on the wrong side of a threshold, worst first."""
    if every.empty:
        st.subheader(what_went_wrong.answer([], len(board.models)), anchor=False)
        st.text("Set thresholds by a model's values, or start a run with its own.")
        if st.button("Set thresholds", type="primary"):
            url.go("thresholds", run=run)
        return
    evaluators = filters.many("Evaluators", counted("evaluator", titles), "evaluator")
    models = filters.many("Models", counted("model", {model: model for model in board.models}), "model")
    severity = filters.one("Severity", counted("severity", SEVERITIES), "severity")
    filters.reset(["evaluator", "model", "severity"])
    keep = every["evaluator"].isin(evaluators or list(titles)) & every["model"].isin(models or board.models)
    shown = every[keep & ((every["severity"] == severity) if severity else True)].reset_index(drop=True)
    st.text(f"{what_went_wrong.answer(list(what_went_wrong.problem_rows(shown)), len(board.models))}.")
    if shown.empty:
        st.info("No problem fits the filters in the sidebar. Clear them to see all.")
        return
    rows = shown.to_dict("records")
    things = "objects" if rows[0]["evaluator"] in objects else "cases"
    if st.button(f"Open the worst problem's {things}", type="primary", icon=":material/arrow_forward:"):
        open_cases(rows[0])
    if controls.choice("List", {"groups": "By model and evaluator", "metrics": "Every metric"}, "list") == "groups":
        show_groups(shown)
        return
    names = [metric_name(row["metric"], row["evaluator"]) for row in rows]
    affected = [format.MISSING if row["affected"] is pd.NA else format.count(row["affected"]) for row in rows]
    standards = [", ".join(row["standards"]) for row in rows]
    table = table_of(
        "problems",
        (Head("Severity", False, CERTAIN, 108), [SEVERITIES[row["severity"]] for row in rows]),
        (Head("Model", width=130), [row["model"] for row in rows]),
        (Head("Evaluator", width=144), [titles[row["evaluator"]] for row in rows]),
        (Head("Metric", width=144), names),
        (Head("Value", True, "", 60), format.aligned([row["value"] for row in rows])),
        (Head("95 % interval", True, "", 108), [format.interval(row["low"], row["high"]) for row in rows]),
        (Head("Threshold", True, "", 80), [limit(*(row[name] for name in LIMIT)) for row in rows]),
        (Head("n", True, "what the value rests on", 50), [format.count(row["n"]) for row in rows]),
        (Head("Failing", True, FAILING, 60), affected),
        (Head("Evidence", False, "what the severity rests on"), [row["evidence"] for row in rows]),
        (Head("Standards", False, "for which the evaluator gives evidence"), standards),
    )
    clicked = blocks.pick_row(table, 430)
    st.caption("Click a problem to see its cases.")
    if clicked is not None:
        open_cases(rows[clicked])


begin()
if url.param("view") == "set":  # a former view
    url.go("thresholds", run=url.param("run"))
run = frame("problems", "Which models are on the wrong side of a threshold, and by how much?", unfinished=True)
found = run_reads.problems(run)
every = found[found["kind"] == "threshold"]
board, objects = run_reads.leaderboard(run), run_reads.match_evaluators(run)
titles = {column.evaluator: column.evaluator_title for column in board.columns}
defects = found[found["kind"].isin(list(KINDS))]
views = {
    "thresholds": f"Thresholds ({format.count(len(every))})",
    "flips": f"Perturbation flips ({format.count(count_flips(run_reads.flip_rates(run)))})",
    "defects": f"Defects ({format.count(len(defects))})",
    "insights": "Insights",  # not counted: that takes longer than the rest of the page
}
view = controls.choice("View", views, "view", clears=OF_ONE_VIEW)
if view == "thresholds":
    show_thresholds()
    if judge_line := judge_calls.run_line(judge_settings.judge_of(run)):
        st.text(judge_line)
elif view == "flips":
    show_flips(run)
elif view == "defects":
    show_defects(run, defects)
else:
    show_insights(run)
