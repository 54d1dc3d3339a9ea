"""The operating point of a run: a score and an IoU threshold that gallery, example and confusion share."""

from collections.abc import Mapping, Sequence

import streamlit as st

from components.data import reviews, visitors
from components.widgets import url
from components.widgets.controls import agreed, is_gone
from metrics.analysis import OperatingPoint

State = Mapping[str, Sequence[str]]  # the query parameters of a view
LEAST_IOU, MOST_IOU = 0.05, 0.95
HELP = {
    "score": "Predictions count from this score on. It applies to the whole run: gallery, example, confusion, curves.",
    "iou": "A prediction matches an object from this IoU on, of key points from this OKS. It applies to the whole run.",
}


def point_of(run: str, state: State) -> OperatingPoint:
    """Return the operating point of a view: that of its query parameters `score` and `iou`, else the run's."""
    chosen = reviews.operating_point(run)

    def number(name: str, default: float) -> float:
        return url.as_number(next(iter(state.get(name, ())), ""), default, 0.0, 1.0)

    return OperatingPoint(number("score", chosen.score), number("iou", chosen.iou))


def draw(run: str, point: OperatingPoint, fixed_iou: bool = False, similarity: str = "IoU") -> None:
    """Draw the sliders of the operating point in two columns, and a button back to the best F1 where it is not there.

    `fixed_iou`: the run's matches hold for one IoU threshold only. `similarity`: by what objects match, IoU or OKS.
    """
    best = reviews.best_point(run)
    left, right, more = st.columns([3, 3, 4], vertical_alignment="bottom")
    with left:
        _slider("Score threshold", "score", run, point, 0.0, 1.0, 0.01)
    with right:
        if not fixed_iou:
            _slider(f"{similarity} threshold", "iou", run, point, LEAST_IOU, MOST_IOU, 0.05)
    with more:
        words = f"Best F1: score ≥ {best.score:.2f}, {similarity} ≥ {best.iou:.2f}"
        if (round(point.score, 2), round(point.iou, 2)) == (best.score, best.iou):
            st.caption(words)
        else:
            st.button(words, icon=":material/restart_alt:", type="tertiary", on_click=_reset, args=(run, best))


def _slider(label: str, name: str, run: str, point: OperatingPoint, low: float, high: float, step: float) -> None:
    key = f"point-{name}"
    shown = min(high, max(low, round(getattr(point, name), 2)))
    st.slider(
        label, low, high, agreed(key, shown), step=step, format="%.2f", key=key, help=HELP[name],
        on_change=_choose, args=(name, key, run, point),
    )  # fmt: skip


def _choose(name: str, key: str, run: str, point: OperatingPoint) -> None:
    if is_gone(key):
        return
    chosen = point._replace(**{name: round(st.session_state[key], 2)})
    if visitors.may("editor"):
        reviews.choose_operating_point(run, chosen)
    url.put(page=None, **chosen._asdict())


def _reset(run: str, best: OperatingPoint) -> None:
    if visitors.may("editor"):
        reviews.choose_operating_point(run, None)
        url.put(page=None, score=None, iou=None)
    else:
        url.put(page=None, **best._asdict())
