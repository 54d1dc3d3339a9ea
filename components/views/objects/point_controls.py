"""The operating point: the score and the IoU threshold that gallery, case and confusion share.

Each model counts from the score of its own best F1, unless one score is chosen for all.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from components.data import boards, reviews, workspace_runs
from components.widgets import url
from components.widgets.controls import agreed, is_gone
from metrics.analysis import OperatingPoint

State = Mapping[str, Sequence[str]]  # the query parameters of a view
LEAST_IOU, MOST_IOU = 0.05, 0.95
OWN = "best"  # the query parameter `score` that stands for each model's own
HELP = {
    "score": "Predictions count from this score on, those of every model: in gallery, case, confusion and curves.",
    "iou": "A prediction matches an object from this IoU on, of key points from this OKS. It applies to the whole run.",
}


def point_of(run: str, state: State, model: str) -> OperatingPoint:
    """Return the operating point of a model in a view: that of its query parameters `score` and `iou`, else the run's.

    Without a score of all models it is the one with the model's best F1.
    """
    score, iou = _thresholds(run, state)
    return reviews.best_point(run, model, iou) if score is None else OperatingPoint(score, iou)


def draw(run: str, point: OperatingPoint, state: State, similarity: str = "IoU", fixed_iou: bool = False) -> None:
    """Draw the sliders of the operating point, and the choice between each model's best F1 and one score for all.

    `point` is that of the model shown, or of the first. `similarity`: by what objects match, IoU or OKS.
    `fixed_iou`: the run's matches hold for one IoU threshold only.
    """
    shared = _thresholds(run, state)[0] is not None
    left, right, more = st.columns([3, 3, 4], vertical_alignment="bottom")
    with left:
        _slider("Score threshold", "score", run, point, shared, 0.0, 1.0, 0.01)
    with right:
        if not fixed_iou:
            _slider(f"{similarity} threshold", "iou", run, point, shared, LEAST_IOU, MOST_IOU, 0.05)
    several = len(workspace_runs.run_facts(run).models) > 1
    names = {OWN: "Best F1 of each model" if several else "Best F1", "": "Same for all" if several else "Chosen"}
    with more:
        key = "point-whose"
        st.segmented_control(
            "Score threshold of", list(names), format_func=names.__getitem__, key=key, label_visibility="collapsed",
            default=agreed(key, "" if shared else OWN), required=True, on_change=_choose_whose, args=(key, run, point),
        )  # fmt: skip


def _thresholds(run: str, state: State) -> tuple[float | None, float]:
    """Return the score, None for each model's own, and the IoU threshold of a view."""
    score, iou = reviews.chosen_point(run)
    asked = {name: next(iter(state.get(name, ())), "") for name in ("score", "iou")}
    found = url.as_number(asked["score"], -1.0, 0.0, 1.0)
    return None if asked["score"] == OWN else score if found < 0 else found, url.as_number(asked["iou"], iou, 0.0, 1.0)


def _slider(
    label: str, name: str, run: str, point: OperatingPoint, shared: bool, low: float, high: float, step: float
) -> None:
    key = f"point-{name}"
    shown = min(high, max(low, round(getattr(point, name), 2)))
    st.slider(
        label, low, high, agreed(key, shown), step=step, format="%.2f", key=key, help=HELP[name],
        on_change=_slide, args=(name, key, run, point, shared),
    )  # fmt: skip


def _slide(name: str, key: str, run: str, point: OperatingPoint, shared: bool) -> None:
    if is_gone(key):
        return
    chosen = point._replace(**{name: round(st.session_state[key], 2)})
    _choose(run, chosen.score if shared or name == "score" else None, chosen.iou)


def _choose_whose(key: str, run: str, point: OperatingPoint) -> None:
    if not is_gone(key):
        _choose(run, None if st.session_state[key] == OWN else point.score, point.iou)


def _choose(run: str, score: float | None, iou: float) -> None:
    if boards.may_note(run):
        reviews.choose_operating_point(run, score, iou)
    url.put(page=None, score=OWN if score is None else score, iou=iou)
