import streamlit as st

from components import data
from components.viewers import text_case
from components.views.judge import agreement_tables, label_entry
from components.widgets import filters, url
from components.widgets.frame import empty, frame

MODES = {"mixed": "Mixed", "drawn": "Drawn at random only"}
VISION = ("detection", "segmentation")


def choose(run: str, metrics: list[dict]) -> tuple[str, str, str, str | None, tuple[str, str] | None]:
    """Rater, criterion, how it is labelled, model, and the metric whose scores choose."""
    rater = filters.search("Your name", "rater").strip()
    known = {one["name"]: one for one in data.label_criteria(run)}
    names = {name: name for name in (*known, *label_entry.offered(metrics)) if name}
    asked = filters.one("Criterion", names, "criterion", every=None) or label_entry.CRITERION
    own = filters.search("Another criterion", "own").strip()
    criterion = own or asked
    scale = filters.one("Labels", label_entry.SCALES, "scale", every=None)
    if criterion in known:  # what others began goes on
        scale = label_entry.scale_of(known[criterion])
    models = data.run_facts(run)["models"]
    model = filters.one("Model", {name: name for name in models}, "model") if len(models) > 1 else None
    mode = filters.one("Which outputs", MODES, "mode", every=None)
    by_key = {column["key"]: column for column in metrics}
    titles = {key: agreement_tables.metric_title(column) for key, column in by_key.items()}
    key = filters.one("Near the threshold of", titles, "key", every=None) if mode == "mixed" and metrics else None
    only = (by_key[key]["evaluator"], by_key[key]["metric"]) if key else None
    descriptions = [column["description"] for column in metrics if column["metric"] == criterion]
    if rater and descriptions:
        st.caption(f"{criterion}: {descriptions[0]}")
    return rater, criterion, str(scale), model, only


def ask_name() -> None:
    """Labels are kept by rater: nothing is shown before there is a name."""
    with st.container(border=True):
        st.subheader("Who are you?", anchor=False)
        st.text(
            "Your labels are kept under your name, so that several people can label the same outputs and be compared. "
            "You see neither the judge's verdict nor what others said."
        )
        with st.form("name", border=False):
            name = st.text_input("Your name", max_chars=label_entry.LONGEST, key="rater-name")
            if st.form_submit_button("Begin", type="primary") and name.strip():
                url.put(rater=name.strip())
                st.rerun()


def draw_case(case: dict) -> None:
    """What was asked and expected, one below the other."""
    asked = "Question" if case["question"] is not None else "Source text"
    text_case.draw_text(asked, case["question"] or case["source_text"], 210, 2)
    for index, expected in enumerate(list(case["expected_answers"] or [])[:2]):
        text_case.draw_text(f"Expected answer {index + 1}" if index else "Expected answer", expected, 150, 2)
    text_case.draw_list("Reference contexts", list(case["reference_contexts"] or []), "reference")


def show(run: str, case_id: str, model: str) -> None:
    """The case and the answer, blind to every score."""
    view = data.example(run, case_id)
    outputs = [output for output in (view["outputs"] if view else []) if output["model"] == model]
    if view is None or not outputs:
        st.text("This output is not in the run any more.")
        return
    left, right = st.columns([4, 5], gap="medium")
    with left:
        draw_case(view["case"])
    with right:
        for output in outputs:
            title = "Answer" if len(outputs) == 1 else f"Answer, repeat {output['run']}"
            text_case.draw_text(title, output["answer"], 330 // len(outputs), 2, "no answer")
        text_case.draw_list("Retrieved contexts", list(outputs[0]["retrieved_contexts"] or []), "contexts")


run = frame("Label", "What do people say of these outputs?")
metrics = data.trust_metrics(run)
if data.run_facts(run)["suite"]["task"] in VISION:
    empty(
        "Labels are for texts",
        "Objects and areas in images have ground truth instead of a judge. Choose a run of texts in the sidebar.",
        "See the runs", "runs",
    )  # fmt: skip
    st.stop()
rater, criterion, scale, model, only = choose(run, metrics)
if not rater:
    ask_name()
    st.stop()
label_entry.draw(run, rater[: label_entry.LONGEST], criterion[: label_entry.LONGEST], scale, model, only, show)
if st.button("See the agreement", icon=":material/arrow_forward:"):
    url.go("judge_agreement", run=run, criterion=criterion)
