"""Labelling outputs one after the other by keyboard: the browser shows the next output at once and keeps each key.

The browser holds some outputs ahead. What was pressed waits there until a later run says that it is stored, so that no
key is lost however fast they come; an entry that arrives twice changes nothing. Beside a judge's verdict, one click
overrules it and is kept as a label.
"""

import base64
import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, Literal

import streamlit as st
from pydantic import Base64Bytes, BaseModel, TypeAdapter, ValidationError

from components.data import agreements, run_reads
from components.viewers.browser_component import browser_component
from components.views.judge.rating_queue import LONGEST
from components.widgets import controls
from components.widgets.literal import literal
from metrics.analysis import Column
from metrics.analysis.labels.human_labels import Criterion
from metrics.analysis.labels.label_queue import Next
from metrics.core.schema import Sampling
from metrics.presentation.phrases import context_titles
from metrics.presentation.viewers.case_texts import question_parts

CRITERION = "quality"  # where no metric gives a better name
SCALES = {"pass": "Pass or fail", "1-3": "Grades 1 to 3", "1-4": "Grades 1 to 4", "1-5": "Grades 1 to 5"}
GRADE = r"(-?\d+(?:\.\d+)?(?:e[-+]\d\d)?)"
SCALE = re.compile(f"{GRADE}-{GRADE}")  # the lowest grade, a dash, the highest
MOST_GRADES = 10
MAX_AHEAD = 20  # outputs that the browser holds
MAX_CHARACTERS = 400_000  # of these outputs together; one is always sent
KEY, DONE, LATER = "label-queue", "labels-stored", "labels-later"  # in the session: entries, their ids, what is put off
MAX_KEPT = 1_000  # ids of entries
Only = tuple[str, str] | None
_storing = Lock()
UNNAMED = "unnamed"  # the rater of labels given without a name
HELP = (
    "Kept as your label of this output: the page Agreement compares it with the judge. You have seen the judge's "
    "verdict, so it counts for this output alone, not for what is said of all outputs. Click it again to remove it."
)
Labelled = tuple[str, str, str, str]  # case, model, rater, criterion


class About(BaseModel):
    """What an output is labelled for: the criterion, its scale, the metric whose doubtful scores come more often."""

    criterion: str
    scale: str
    only: Only


class Entry(BaseModel):
    """What was pressed in the browser, and the token of the output that was on the screen."""

    id: str
    do: Literal["label", "put off", "take back"]
    value: float | None = None
    output: Base64Bytes


Shown = tuple[str, str, Sampling, About]  # case, model, how it was drawn, what it is labelled for
SHOWN = TypeAdapter[Shown](Shown)


def offered(metrics: Sequence[Column], judged: Collection[str]) -> list[str]:
    """Return criteria to label for: the names of the judged evaluators' primary metrics, else CRITERION."""
    names = [column.metric for column in metrics if column.primary and column.evaluator in judged]
    return list(dict.fromkeys(names or [CRITERION]))


def scale_of(criterion: Criterion) -> str:
    """Return the scale that a criterion was labelled on before."""
    return f"{criterion.low:g}-{criterion.high:g}" if criterion.graded else "pass"


def ends_of(scale: str) -> tuple[float, float]:
    """Return the lowest and the highest grade of a scale; they can be negative: "-1-1", "-3--1"."""
    found = SCALE.fullmatch(scale)
    return (float(found[1]), float(found[2])) if found else (0.0, 1.0)


def buttons(scale: str) -> list[tuple[str, float | None, str]]:
    """Return the labels of a scale as (text, value, key): pass and fail or the grades, then unsure.

    Grades of two digits have no key.
    """
    grades: list[tuple[str, float | None, str]] = [("✓ Pass", 1.0, "P"), ("✗ Fail", 0.0, "F")]
    if scale != "pass":
        low, high = ends_of(scale)
        ends = range(round(low), round(high) + 1)[: MOST_GRADES + 1]
        grades = [(str(grade), float(grade), str(grade) if grade < 10 else "") for grade in ends]
    return [*grades, ("Unsure", None, "U")]


def draw(
    run: str, rater: str, criterion: str, scale: str, model: str | None, only: Only, mixed: bool, reads_contexts: bool
) -> None:
    """Store what was pressed, then draw progress, the labels and the outputs that come next for this rater."""
    stored = store_entries(run, rater)
    later = tuple(st.session_state[LATER])
    found = agreements.label_queue(run, criterion, rater, only, model=model, skipped=later, most=MAX_AHEAD, mixed=mixed)
    payload = {
        "session": f"{run}|{rater}",
        "set": json.dumps([criterion, scale, model, only, mixed]),
        "head": f"{rater} · {criterion}",
        "done": found.done, "drawn": found.drawn, "total": found.total,
        "stored": stored,
        "labels": [{"text": text, "value": value, "key": key} for text, value, key in buttons(scale)],
        "outputs": _outputs(run, found.next, {"criterion": criterion, "scale": scale, "only": only}, reads_contexts),
    }  # fmt: skip
    packed = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    # also called where the page is left before it is drawn again
    browser_component("label_queue")(key=KEY, data=packed, on_given_change=_store_late, default={"given": []})
    st.session_state["labels-of"] = run, rater


def store_entries(run: str, rater: str) -> list[str]:
    """Store labels, put outputs off and take both back, as the browser's entries say, each once and in their order.

    Return the ids of those that are stored.
    """
    # the session's own lists, changed in place: a script that is stopped for the next one stops where it reads the
    # session, and may still be storing when the next one begins
    done: list[str] = st.session_state.setdefault(DONE, [])
    later: list[tuple[str, str]] = st.session_state.setdefault(LATER, [])
    entries = list(_read_entries())
    with _storing:
        for entry, (case_id, model, sampling, about) in entries:
            if entry.id in done:
                continue
            output, criterion = (case_id, model), about.criterion[:LONGEST]
            later[:] = [one for one in later if one != output]
            if entry.do == "label" and entry.value in [value for _, value, _ in buttons(about.scale)]:
                agreements.give_label(
                    run, *output, rater, criterion, entry.value, sampling, ends_of(about.scale), about.only
                )
            elif entry.do == "put off":
                later.append(output)
            elif entry.do == "take back":
                agreements.withdraw_label(run, *output, rater, criterion)
            done.append(entry.id)
        del done[:-MAX_KEPT]
        return [entry.id for entry, _ in entries if entry.id in done]


def _read_entries() -> Iterator[tuple[Entry, Shown]]:
    """Yield the entries that the browser holds, and their outputs; what is none is passed over."""
    held = (st.session_state.get(KEY) or {}).get("given")
    for sent in held if isinstance(held, list) else ():
        with suppress(ValidationError):
            entry = Entry.model_validate(sent)
            yield entry, SHOWN.validate_json(entry.output)


def _store_late() -> None:
    run, rater = st.session_state["labels-of"]
    store_entries(run, rater)


def _outputs(run: str, coming: Sequence[Next], about: Mapping[str, Any], reads_contexts: bool) -> list[dict[str, Any]]:
    """Return what the browser draws of each output, without its model's name in sight."""
    ids = tuple(dict.fromkeys(one.case_id for one in coming))
    held = run_reads.cases_with_outputs(run, ids) if ids else []
    views = {case["case_id"]: (case, outputs) for case, outputs in held}
    found: list[dict[str, Any]] = []
    size = 0
    for one in coming:
        case, outputs = views[one.case_id]
        token = json.dumps([one.case_id, one.model, one.sampling, about])
        drawn = {
            "key": hashlib.sha256(json.dumps([one.case_id, one.model]).encode()).hexdigest()[:16],
            "output": base64.b64encode(token.encode("utf-8", "surrogatepass")).decode(),
            **_texts(case, [output for output in outputs if output["model"] == one.model], reads_contexts),
        }
        size += len(json.dumps(drawn))
        if found and size > MAX_CHARACTERS:
            break
        found.append(drawn)
    return found


def _texts(case: Mapping[str, Any], outputs: Sequence[Mapping[str, Any]], reads_contexts: bool) -> dict[str, Any]:
    earlier, asked = question_parts(case)
    expected = list(case["expected_answers"] or [])[:2]
    left = [
        asked,
        *((f"Expected answer {n}" if n > 1 else "Expected answer", text) for n, text in enumerate(expected, 1)),
    ]
    right = [
        ("Answer" if len(outputs) == 1 else f"Answer, repeat {output['run']}", output["answer"] or "(no answer)")
        for output in outputs
    ]
    lists = [("Earlier turns", earlier, False)] if earlier else []
    reference = list(case["reference_contexts"] or [])
    lists += [("Reference contexts", list(zip(context_titles(len(reference)), reference, strict=True)), False)]
    retrieved, ids = (
        list((outputs[0].get(name) if outputs else None) or []) for name in ("retrieved_contexts", "context_ids")
    )
    titles = context_titles(len(retrieved), ids)
    lists += [("Retrieved contexts", list(zip(titles, retrieved, strict=True)), reads_contexts)]
    return {
        "left": [[title, text] for title, text in left if text],
        "right": right,
        "lists": [{"title": title, "texts": texts, "open": opened} for title, texts, opened in lists if texts],
    }


def draw_verdict(run: str, case_id: str, model: str, rater: str, criterion: str, title: str, key: str) -> None:
    """Draw the labels of the criterion's scale as buttons in a row under its title, the rater's present one chosen."""
    about = (case_id, model, rater[:LONGEST] or UNNAMED, criterion)
    given = agreements.label_given(run, *about)
    scale = next((scale_of(one) for one in agreements.label_criteria(run) if one.name == criterion), "pass")
    values = {text: value for text, value, _ in buttons(scale)}
    chosen = next((text for text, value in values.items() if given and value == given["value"]), None)
    key = f"verdict-{key}"
    st.segmented_control(
        f"Your verdict: {literal(title)}", list(values), default=controls.agreed(key, chosen), key=key, help=HELP,
        on_change=_give, args=(run, about, values, scale, key),
    )  # fmt: skip


def _give(run: str, about: Labelled, values: dict[str, float | None], scale: str, key: str) -> None:
    """Keep the label that was clicked; without one, remove the rater's own."""
    text = st.session_state[key]
    if text is None:
        agreements.withdraw_label(run, *about)
        return
    before = agreements.label_given(run, *about)  # an output that was drawn at random stays one
    sampling = before["sampling"] if before else "seen"
    agreements.give_label(run, *about, values[text], sampling, ends_of(scale))
