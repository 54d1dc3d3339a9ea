"""The objects of detection runs: galleries, thumbnails, and one image matched at other thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import ObjectPage, Rules, Window
    from metrics.vision.geometry import Compared


@st.cache_data(max_entries=256, show_spinner=False)
def compared(run_id: str, model: str, repeat: int, evaluator: str) -> Compared:
    """Return as what the objects of a model are compared: box, mask or polygon."""
    from metrics import analysis

    return analysis.compared(workspace().run(run_id), model, repeat, evaluator)


def match_rules(run_id: str, evaluator: str | None) -> Rules:
    """Return at which IoU an evaluator of a run matches, and how many predictions of an image and label count."""
    from metrics import analysis

    return analysis.rules(workspace().run(run_id), evaluator)


def match_kinds(
    annotations: pd.DataFrame, predictions: pd.DataFrame, iou: float, score: float, geometry: Compared,
    case: Mapping[str, Any], max_dets: int | None = None,
) -> tuple[list[str], list[str]]:  # fmt: skip
    """Return the kinds of one model's predictions and of the annotations of one image, matched at these thresholds."""
    from metrics import analysis

    size = case["image_height"], case["image_width"]
    return analysis.match_objects(annotations, predictions, iou, score, geometry, size, max_dets)


def match_evaluators(run_id: str) -> Mapping[str, str]:
    """Return the evaluators of a detection run whose matches are stored: id → title."""
    from metrics import analysis

    return analysis.match_evaluators(workspace().run(run_id))


def repeats(run_id: str, model: str) -> Sequence[int]:
    """Return the repeats that there are of a model's outputs: 1, 2, …"""
    facts = workspace().outputs_facts(workspace().run(run_id).spec["outputs"]["fingerprint"])
    return tuple(facts["models"][model]["runs"])


@st.cache_resource(max_entries=64, show_spinner=False)
def objects(
    run_id: str, evaluator: str, sort: str, by_image: bool, limit: int, offset: int, **choice: Any
) -> ObjectPage:
    """Return a page of a gallery; `choice` are the fields of metrics.analysis.ObjectFilter. Read-only."""
    from metrics import analysis

    chosen = analysis.ObjectFilter(**choice)
    return analysis.objects(workspace().run(run_id), evaluator, chosen, sort, by_image, limit, offset)


@st.cache_resource(max_entries=256, show_spinner=False)
def object_counts(run_id: str, evaluator: str, **choice: Any) -> Mapping[str, Mapping[str, int]]:
    """Return how many objects each choice of kind, label, truth, size and tag would leave. Read-only."""
    from metrics import analysis

    return analysis.object_counts(workspace().run(run_id), evaluator, analysis.ObjectFilter(**choice))


def thumbnails(
    run_id: str, wanted: Sequence[tuple[str, Window | None]], seconds: float
) -> Sequence[bytes | str | None]:
    """Return for each (image, window) JPEG bytes, the reason for none, or None for not yet."""
    from metrics import analysis

    return analysis.thumbnails(workspace().run(run_id), wanted, seconds)
