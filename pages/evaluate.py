from typing import Any

import streamlit as st

from components import data
from components.views.setup import evaluator_offers, local_model_fields, run_judge
from components.widgets import column_mapping, controls, uploads, url
from components.widgets.frame import frame
from metrics.presentation import format

SOURCES = {"upload": "Upload a suite", "stored": "A stored suite", "sample": "A bundled sample"}
TASKS = {
    "": "as the columns say", "text": "text: questions and answers", "classification": "classification",
    "detection": "detection: boxes in images", "segmentation": "segmentation: a label for every pixel",
    "agent": "agent: tasks, traces and files",
}  # fmt: skip
SUITE_HINT = (
    "CSV, JSONL, JSON, Parquet, COCO JSON or a zip of masks. The names of ragas, DeepEval, promptfoo, MLflow … are "
    "understood."
)
OUTPUTS_HINT = "One file with a column model, or a file for each model. COCO results are understood too."
FILES_HINT = (
    "The files that the agents made, as CASE/… (CASE the case's id; MODEL/CASE/… for several models) or under the "
    "names in the traces. They are checked by kind; nothing in them is run."
)
IMAGES_HINT = "File names as in the suite. Without images all is computed, and boxes are drawn on an empty page."
EXAMPLES = {  # what to bring: suite, outputs
    "Text": (
        "case_id,question,expected_answer\n1,Capital of Peru?,Lima\n2,What is 6 × 7?,42",
        "case_id,model,answer\n1,small,Lima\n1,large,The capital is Lima.",
    ),
    "Classification": ("case_id,question,label\n1,I am so glad!,joy", "case_id,model,label,score\n1,small,joy,0.83"),
    "Detection, beside COCO JSON": (
        "image,label,x,y,w,h\na.jpg,cat,10,20,64,48",
        "image,label,score,x,y,w,h\na.jpg,cat,0.9,11,19,60,50",
    ),
    "Agents, also OpenTelemetry and OpenAI": (
        "case_id,question,expected_answer\n1,Plot the sales,1. Load the data 2. Plot it",
        '{"case_id": "1", "model": "small",\n "messages": [{"role": "user", …}, …]}',
    ),
    "Segmentation, zips of indexed PNG": ("masks.zip\n  a.png  b.png  labels.txt", "small.zip\n  a.png  b.png"),
}  # fmt: skip


def choose_suite(source: str) -> tuple[str, str]:
    """Return the suite (our name of the file, a fingerprint, a sample's id) and the zip of images; "" where not yet
    chosen.
    """
    if source == "upload":
        suites = uploads.draw_uploads("Test cases", "suite", data.upload_folder(), uploads.TABLES, hint=SUITE_HINT)
        images = []
        if suites and data.wants_images(suites[0]):
            images = uploads.draw_uploads(
                "Images, a zip", "images", data.upload_folder(), uploads.ARCHIVES, hint=IMAGES_HINT
            )
        return next(iter(suites), ""), next(iter(images), "")
    options = data.stored_suites() if source == "stored" else data.samples()
    if not options:
        st.info("No suite is stored yet: every suite that is evaluated is kept. Upload one to begin.")
        return "", ""
    asked = url.param("suite", "") or ""
    names = list(options)
    place = names.index(asked) if asked in options else 0
    chosen = st.selectbox("Test cases", names, place, format_func=options.__getitem__, key=f"suite-{source}")
    if chosen != asked:
        url.put(suite=chosen, smap=None, omap=None)
    return str(chosen), ""


def choose_outputs(source: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Return the files of outputs, the model of each ("": it has a column), and whether the suite file has the
    answers.
    """
    if source == "sample":
        st.text("What the models answered")
        st.text("✓ the sample brings it")
        return (), (), False
    together = source == "upload" and url.flag("together")
    tokens = []
    if together:
        st.text("What the models answered")
    else:
        tokens = uploads.draw_uploads(
            "What the models answered", "outputs", data.upload_folder(), uploads.TABLES, many=True, hint=OUTPUTS_HINT
        )
    if source == "upload" and not tokens:
        st.checkbox(
            "My suite file already has the answers", value=together, key=f"together-{together}",
            on_change=lambda: url.put(together=not together),
        )  # fmt: skip
    asked = url.params("called")
    models = []
    for index, token in enumerate(tokens):
        file = uploads.name_of(token, data.upload_folder())
        guess = uploads.model_name(file)
        if data.names_its_models(token):
            models.append("")
            continue
        model = asked[index] if index < len(asked) else guess
        models.append(st.text_input(f"Model that made {file}", model, key=f"called-{token}").strip() or guess)
    if any(models):
        url.put(called=models)
    return tuple(tokens), tuple(models), together


def choose_files(suite: str, outputs: tuple[str, ...], together: bool) -> str:
    """Return the zip of files that agents made, where the outputs tell of any; "" without one."""
    tokens, role = ((suite,), "combined") if together and suite else (outputs, "outputs")
    if not tokens or not (url.param("task") == "agent" or data.wants_files(tokens, role)):
        return ""
    chosen = uploads.draw_uploads(
        "Files the agents made, a zip (if any)", "files", data.upload_folder(), uploads.ARCHIVES, hint=FILES_HINT
    )
    return next(iter(chosen), "")


def show_examples() -> None:
    """What to bring, before anything is there."""
    for title, examples in EXAMPLES.items():
        with st.container(gap="xsmall"):
            st.caption(title)
            for place, example in zip(st.columns(2), examples, strict=True):
                place.code(example, language=None)


def show_columns(inputs: data.Inputs) -> str:
    """Return what was understood of each file; what stands in the way: `question`, `problem`, or nothing."""
    obstacle = ""
    files = data.previews(inputs)
    for file in files:
        if "problems" in file:
            obstacle = "problem"
            st.text(f"{file['name']} cannot be read")
            st.dataframe(file["problems"], hide_index=True)
            continue
        obstacle = obstacle or ("question" if file["questions"] else "")
        rows = "" if file["rows"] is None else f": {format.plural(file['rows'], 'row')}"
        st.text(f"{file['name']}{rows} · {column_mapping.summary(file) or ' '.join(file['notes'])}")
        column_mapping.draw_questions(file["questions"], "omap" if file["role"] == "outputs" else "smap")
    if not files:
        return obstacle
    with st.expander("Columns, lists and first rows"):
        if inputs.source == "upload":
            names = list(TASKS)
            place = names.index(inputs.task) if inputs.task in names else 0
            task = st.selectbox("Task", names, place, format_func=TASKS.__getitem__)
            if task != inputs.task:
                url.put(task=task)
                st.rerun()
        for file in files:
            if "problems" not in file:
                show_file(file)
    return obstacle


def show_file(file: dict[str, Any]) -> None:
    """The mapping of a file, to be corrected; how its lists were understood; its first rows."""
    st.text(f"{file['name']}: " + (" ".join(file["notes"]) or "which column is which"))
    if file["canonical"]:
        column_mapping.draw_mapping(file, "omap" if file["role"] == "outputs" else "smap")
    if len(file["lists"]):
        st.text("How list cells were understood")
        st.dataframe(file["lists"], hide_index=True, height="auto")
    st.text("First rows, as they stand in the file")
    st.dataframe(file["head"], hide_index=True, height=min(260, 38 + 35 * len(file["head"])))


def show_problems(facts: dict[str, Any], inputs: data.Inputs) -> None:
    """Everything wrong with the files at once, and the choice to leave the bad rows out."""
    problems = facts["problems"]
    if problems.empty:
        return
    count = format.plural(len(problems), "problem")
    st.subheader(f"{count} in the files", anchor=False)
    st.dataframe(problems, hide_index=True, height="auto" if len(problems) < 7 else 260)
    with st.container(horizontal=True, vertical_alignment="center"):
        if facts["good"] is not None:
            keep = f"Keep the {format.plural(facts['good'], 'good row')}, leave out {format.count(facts['left_out'])}"
            if st.checkbox(keep, value=inputs.keep, key=f"keep-{inputs.keep}") != inputs.keep:
                url.put(keep=not inputs.keep)
                st.rerun()
        else:
            st.text("These cannot be got round by leaving rows out: mend the file and upload it again.")
        st.download_button(
            "Download the list", data=lambda: data.problems_csv(problems), file_name="problems.csv", mime="text/csv",
            on_click="ignore", icon=":material/download:",
        )  # fmt: skip


def choose_judge(offered: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the judge of the run, where an evaluator on offer asks one; {} without one."""
    waiting = sum(not offer["lacks"] and data.uses_judge(offer["id"], {}) for offer in offered)
    if not waiting:
        return {}
    return run_judge.draw_judge(data.judge_chosen(), data.judge_schemas()[1], waiting)


def summarise(
    facts: dict[str, Any] | None, missing: str, chosen: list[str], skipped: list[str], given: dict[str, Any],
    inputs: Any, resources: dict[str, Any],
) -> None:  # fmt: skip
    """The card at the right: what is ready, what is missing, and the button."""
    name = ""
    with st.container(border=True):
        st.subheader("Ready to start" if not missing else "Not ready yet", anchor=False)
        if facts is not None and facts["ok"]:
            st.text(f"{facts['suite']}: {format.plural(facts['cases'], 'case')}, {facts['task']}")
            st.text(f"{format.plural(len(facts['models']), 'model')}: {format.shorten(', '.join(facts['models']), 90)}")
            left_out = facts["left_out"] if inputs.keep else 0
            if left_out:
                st.text(f"{format.plural(left_out, 'row')} left out; the count stays with the run")
            if facts["missing"]:
                masks = facts["task"] == "segmentation"
                what = "all their pixels count as wrong" if masks else "those cases are not scored"
                st.text(f"{format.plural(facts['missing'], 'answer')} missing: {what}")
            for note in facts["notes"]:
                st.text(note)
            st.text(f"{format.plural(len(chosen), 'evaluator')} chosen")
            if skipped:
                st.text(f"{format.plural(len(skipped), 'evaluator')} will be skipped; the list says why")
            expected = st.container(gap="xsmall")
            name = st.text_input("Name of the run", key="run_name", placeholder=facts["suite"])
        if missing:
            st.text(missing)
        if st.button("Start", type="primary", icon=":material/play_arrow:", disabled=bool(missing), width="stretch"):
            with st.spinner("Storing the suite and the outputs"):
                run, refused = data.start(inputs, tuple(chosen), given, name.strip() or None, resources)
            if run:
                url.go("runs", run=run)
            st.text(refused)
    # last, for it takes a while: everything else is there to be used meanwhile
    if not missing and resources.get("judge") and any(data.uses_judge(each, given.get(each, {})) for each in chosen):
        with expected, st.spinner("Estimating what the judge will be asked"):
            found = data.estimate(inputs, tuple(chosen), given, resources)
            st.text("\n".join(run_judge.estimate_lines(found)) if found else "")


frame("Evaluate", "What shall I evaluate?", needs_run=False)
left, right = st.columns([7, 4], gap="large")
with left:
    source = controls.choice("Suite", SOURCES, "from")
    first, second = st.columns(2)
    with first:
        suite, images = choose_suite(source)
    with second:
        outputs, models, together = choose_outputs(source)
        files = choose_files(suite, outputs, together)
    uploads.draw_refused()
    complete = bool(suite) and (bool(outputs) or together or source == "sample")
    facts, obstacle, chosen, given, skipped, resources = None, "", [], {}, [], {}
    inputs = data.Inputs(
        source, suite, images, outputs, models, together, url.param("task", "") or "", tuple(url.params("smap")),
        tuple(url.params("omap")), url.flag("keep"), files,
    )  # fmt: skip
    if not suite and not outputs:
        show_examples()
    elif suite and source != "sample":
        obstacle = show_columns(inputs)
    if complete and not obstacle:
        with st.spinner("Reading and checking the files"):
            facts = data.read_inputs(inputs)
        show_problems(facts, inputs)
        if facts["ok"]:
            st.subheader("Evaluators", anchor=False)
            offered = evaluator_offers.offers(data.catalogue(), facts["task"], set(facts["present"]))
            resources = local_model_fields.draw_models(
                local_model_fields.needed(offered, data.catalogue()), data.model_kinds()
            )
            judge = choose_judge(offered)
            prompts = st.container()
            if judge:
                resources["judge"] = judge
            chosen, given, skipped = evaluator_offers.draw_offers(
                offered, data.catalogue(), lambda name, values: data.unavailable(name, values, resources),
                lambda name, values: "needs a judge" if not judge and data.uses_judge(name, values) else "",
            )  # fmt: skip
            if judge:
                with prompts:
                    judge["prompts"] = run_judge.draw_prompts(run_judge.prompts_of(chosen, data.catalogue()))
with right:
    missing = (
        "Choose the suite." if not suite
        else "Add what the models answered." if not complete
        else "Answer the question about a column." if obstacle == "question"
        else "Mend the problems, or leave the bad rows out." if facts is None or not facts["ok"]
        else "Choose at least one evaluator." if not chosen
        else "No chosen evaluator can run: the list says what each lacks." if len(skipped) == len(chosen)
        else ""
    )  # fmt: skip
    summarise(facts, missing, chosen, skipped, given, inputs, resources)
