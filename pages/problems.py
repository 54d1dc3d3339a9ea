import streamlit as st

from components import behind, data, filters, format, judged, url
from components.frame import frame
from components.records import records

SEVERITIES = {
    "high": "Beyond chance",  # the whole 95 % interval is on the wrong side
    "unknown": "No interval",
    "low": "May be chance",
}

run = frame("Problems", question="Which models are on the wrong side of a threshold, and by how much?")
every = data.problems(run)
board, objects = data.leaderboard(run), data.match_evaluators(run)
titles = {column["evaluator"]: column["evaluator_title"] for column in board["columns"]}


def counted(name: str, labels: dict[str, str]) -> dict[str, str]:
    counts = every[name].value_counts()
    return {value: f"{label} ({counts[value]})" for value, label in labels.items() if value in counts}


def open_cases(position: int) -> None:
    """Leave for the objects behind a problem where the evaluator tells them apart, else for its cases."""
    row = shown.iloc[position]
    if row["evaluator"] in objects:
        chosen = behind.number(row["evaluator"], row["metric"], data.run_facts(run)["evaluators"][row["evaluator"]])
        url.go("gallery", run=run, model=row["model"], **chosen)
    url.go("cases", run=run, evaluator=row["evaluator"], metric=row["metric"], model=row["model"])


if every.empty:
    st.subheader("No model is on the wrong side of a threshold", anchor=False)
    st.text("Every evaluator's threshold is under Evaluators; a run can set its own when it is started.")
else:
    evaluators = filters.many("Evaluators", counted("evaluator", titles), "evaluator")
    models = filters.many("Models", counted("model", {model: model for model in board["models"]}), "model")
    severity = filters.one("Severity", counted("severity", SEVERITIES), "severity")
    filters.reset(["evaluator", "model", "severity"])
    keep = every["evaluator"].isin(evaluators or list(titles)) & every["model"].isin(models or board["models"])
    shown = every[keep & ((every["severity"] == severity) if severity else True)].reset_index(drop=True)
    certain = int((shown["severity"] == "high").sum())
    if judge_line := judged.run_line(data.judge_of(run)):
        st.text(judge_line)
    models_text = format.plural(len(board["models"]), "model")
    st.text(
        f"{format.plural(len(shown), 'problem')} in {shown['model'].nunique()} of {models_text}"
        f"; {certain} beyond chance: their whole 95 % interval is on the wrong side."
    )
    if shown.empty:
        st.info("No problem fits the filters in the sidebar. Clear them to see all.")
        st.stop()
    things = "objects" if shown["evaluator"].iloc[0] in objects else "cases"
    if st.button(f"See the {things} behind the gravest", type="primary", icon=":material/arrow_forward:"):
        open_cases(0)
    table = shown.assign(
        severity=shown["severity"].map(SEVERITIES),
        evaluator=shown["evaluator"].map(titles),
        value=format.aligned(shown["value"].tolist()),
        interval=[format.interval(low, high) for low, high in zip(shown["low"], shown["high"], strict=True)],
        threshold=[
            "≤ " * (d == "lower") + "≥ " * (d != "lower") + f"{t:g}"
            for t, d in zip(shown["threshold"], shown["direction"], strict=True)
        ],
    )
    clicked = records(
        table,
        {
            "severity": "Severity",
            "model": st.column_config.Column("Model", width="medium"),
            "evaluator": "Evaluator", "metric": "Metric",
            "value": st.column_config.Column("Value", alignment="right", width="small"),
            "interval": st.column_config.Column("95 % interval", alignment="right", width="small"),
            "threshold": st.column_config.Column("Threshold", alignment="right", width="small"),
            "n": st.column_config.NumberColumn("n", width="small"),
        },
        key="problems", tallest=400,
    )  # fmt: skip
    if clicked is not None:
        open_cases(clicked)

notes = data.insights(run)
if len(notes):
    st.subheader("What else stands out", anchor=False)
    st.dataframe(
        notes,
        hide_index=True,
        column_order=["message"],
        column_config={"message": f"Insights ({len(notes)})"},
        key="insights",
    )
