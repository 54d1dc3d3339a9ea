"""Cases of a run: the list behind a number, one case in full, its image and its regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.data.judge_settings import evidence_parts, judge_calls
from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import CasePage, Segment

EVIDENCE = ("verdicts", "evidence", "judge")


class CaseView(NamedTuple):
    """One case of a run, see metrics.analysis.ExampleView; `image` is the path of its file or None.

    The parts of each score's evidence are three columns of `scores`: `verdicts` (groups), `evidence` (facts), `judge`.
    """

    case: Mapping[str, Any]
    image: str | None
    outputs: Sequence[Mapping[str, Any]]
    scores: pd.DataFrame
    annotations: pd.DataFrame
    predictions: pd.DataFrame


@st.cache_resource(max_entries=256, show_spinner=False)
def cases(run_id: str, evaluator: str, metric: str, **choice: Any) -> CasePage:
    """Return a page of the cases behind a number; `choice` as in metrics.analysis.cases. Read-only."""
    from metrics import analysis

    return analysis.cases(workspace().run(run_id), evaluator, metric, **choice)


@st.cache_resource(max_entries=64, show_spinner=False)
def case_ids(run_id: str, evaluator: str, metric: str, **choice: Any) -> Sequence[str]:
    """Return every case behind a number, each once, in the order of the list; `choice` as in `cases`. Read-only."""
    from metrics import analysis

    page = analysis.cases(workspace().run(run_id), evaluator, metric, **choice, limit=10_000_000)
    return tuple(page.rows["case_id"].drop_duplicates())


def value_bounds(least: str | None, below: str | None) -> dict[str, float]:
    """Return the part of `choice` that keeps the values least ≤ value < below, given as texts of an address."""
    found: dict[str, float] = {}
    for name, text in (("low", least), ("high", below)):
        with suppress(TypeError, ValueError):
            value = float(text)  # type: ignore[arg-type]
            found |= {name: value} if value == value else {}
    return found


@st.cache_resource(max_entries=64, show_spinner=False)
def case_texts(run_id: str, case_ids: tuple[str, ...]) -> pd.DataFrame:
    """Return the beginning of each case's text: case_id, preview, in the order given. Read-only."""
    from metrics import analysis

    return analysis.case_texts(workspace().run(run_id), case_ids)


@st.cache_resource(max_entries=64, show_spinner=False)
def example(run_id: str, case_id: str) -> CaseView | None:
    """Return one case in full; None if the suite has no such case. Read-only."""
    import pandas as pd

    from metrics import analysis
    from metrics.core.errors import InputError

    run = workspace().run(run_id)
    try:
        view = analysis.example(run, case_id)
    except InputError:
        return None
    parts = [evidence_parts(evidence) for evidence in view.scores["evidence"]]
    judge_calls(parts, view.scores, run, case_id)
    scores = view.scores.copy()
    for place, name in enumerate(EVIDENCE):
        scores[name] = pd.Series([part[place] for part in parts], scores.index, object)
    image = None if view.image is None else str(view.image)
    return CaseView(view.case, image, view.outputs, scores, view.annotations, view.predictions)


@st.cache_resource(max_entries=128, show_spinner=False)
def segments(run_id: str, case_id: str, model: str, repeat: int) -> Sequence[Segment]:
    """Return the regions and mistakes of a segmented image. Read-only."""
    from metrics import analysis

    return analysis.segments(workspace().run(run_id), case_id, model, repeat)


def labels(run_id: str) -> Sequence[str]:
    """Return the classes of the suite of a run, in its order."""
    return workspace().run(run_id).suite.labels
