"""Labelling outputs one after the other by keyboard: each label is stored before the next output is shown."""

import re
from collections.abc import Callable, Collection, Sequence

import streamlit as st

from components.data import agreements
from components.views.judge.rating_queue import RatingQueue
from components.widgets.literal import literal
from metrics.analysis import Column
from metrics.analysis.labels.human_labels import Criterion
from metrics.presentation import format

CRITERION = "quality"  # where no metric gives a better name
SCALES = {"pass": "Pass or fail", "1-3": "Grades 1 to 3", "1-4": "Grades 1 to 4", "1-5": "Grades 1 to 5"}
SCALE = re.compile(r"(-?[\d.]+(?:e[-+]\d+)?)-(-?.+)")  # the lowest grade, a dash, the highest
MOST_GRADES = 10
LOOKS = {"✓ Pass": ":green[**✓ Pass**]", "✗ Fail": ":red[**✗ Fail**]"}
QUEUE = RatingQueue("labels", agreements.withdraw_label)
BACK = "Back", "Removes the last label."


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
        ends = range(round(low), round(high) + 1)
        grades = [(str(grade), float(grade), str(grade) if grade < 10 else "") for grade in ends]
    return [*grades[: MOST_GRADES + 1], ("Unsure", None, "U")]


def draw(
    run: str,
    rater: str,
    criterion: str,
    scale: str,
    model: str | None,
    only: tuple[str, str] | None,
    mixed: bool,
    show: Callable[[str, str, str], None],
) -> None:
    """Draw progress, the buttons and, by `show` (run, case_id, model), the next output for this rater."""
    found = agreements.label_queue(
        run, criterion, rater, only, model=model, skipped=tuple(QUEUE.put_off), most=1, mixed=mixed
    )
    drawn = f"{format.count(found.drawn)} of them drawn at random"
    of = f"{format.count(found.done)} of {format.plural(found.total, 'output')}"
    st.progress(found.done / max(1, found.total), text=f"{literal(f'{rater} · {criterion}')}: {of} labelled, {drawn}")
    if not found.next:
        st.success("Every output has your label.")
        QUEUE.draw_back(run, *BACK)
        return
    (coming,) = found.next
    about = (run, coming.case_id, coming.model, rater, criterion)
    bar = st.container()
    show(run, coming.case_id, coming.model)
    # drawn after the output and keyed by it, so that a quick key press never labels an output not yet on the screen
    item = f"{coming.model}-{coming.case_id}"
    with bar, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for text, value, key in buttons(scale):
            st.button(
                LOOKS.get(text, text),
                key=f"label-{text}-{item}",
                shortcut=key or None,
                on_click=_give,
                args=(about, value, coming.sampling, scale, only),
            )
        st.button(
            "Next",
            key=f"label-next-{item}",
            shortcut="N",
            on_click=QUEUE.skip,
            args=(about[1:3],),
            help="Shows this output again later.",
        )
        QUEUE.draw_back(run, *BACK)


def _give(
    about: tuple[str, str, str, str, str],
    value: float | None,
    sampling: str,
    scale: str,
    only: tuple[str, str] | None,
) -> None:
    agreements.give_label(*about, value, sampling, ends_of(scale), only)
    QUEUE.note(about[1:3], about)
