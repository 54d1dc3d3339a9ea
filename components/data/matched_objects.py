"""One example, the curves, and the matched objects behind a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.boards import catalogue
from components.data.judge_settings import evidence_parts, judge_calls
from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    import pandas as pd

EVIDENCE = ("verdicts", "evidence", "judge")


@st.cache_resource(max_entries=64, show_spinner=False)
def example(run_id: str, case_id: str) -> dict[str, Any] | None:
    """One case as plain values: case, image, outputs, scores, annotations, predictions; None if unknown. Read-only.

    The parts of each score's evidence are three columns: `verdicts` (groups), `evidence` (facts) and `judge`.
    """
    from metrics import analysis
    from metrics.core.errors import InputError

    run = workspace().run(run_id)
    try:
        view = analysis.example(run, case_id)
    except InputError:
        return None
    parts = [evidence_parts(evidence) for evidence in view.scores["evidence"]]
    judge_calls(parts, view.scores, run, case_id)
    scores = view.scores.assign(**{name: [part[place] for part in parts] for place, name in enumerate(EVIDENCE)})
    return {
        "case": view.case, "image": None if view.image is None else str(view.image), "outputs": view.outputs,
        "scores": scores, "annotations": view.annotations, "predictions": view.predictions,
    }  # fmt: skip


@st.cache_data(max_entries=32, show_spinner=False)
def picture(path: str) -> tuple[str, int, int]:
    """Return an image of a suite as a data URI, with its width and height in pixels; ValueError where it cannot be
    shown.
    """
    from components.viewers.image_viewer import picture

    return picture(path)


@st.cache_data(max_entries=256, show_spinner=False)
def compared(run_id: str, model: str, repeat: int, evaluator: str) -> str:
    """As what the objects of a model are compared: box, mask or polygon; see metrics.analysis.compared."""
    from metrics import analysis

    return analysis.compared(workspace().run(run_id), model, repeat, evaluator)


def match_rules(run_id: str, evaluator: str | None) -> tuple[float, int | None]:
    """At which IoU an evaluator of a run matches, and how many predictions of an image and label count (None: all)."""
    from metrics import analysis

    return tuple(analysis.rules(workspace().run(run_id), evaluator))


def match_kinds(
    annotations: pd.DataFrame, predictions: pd.DataFrame, iou: float, score: float, geometry: Any,
    case: dict[str, Any], max_dets: int | None = None,
) -> tuple[list[str], list[str]]:  # fmt: skip
    """Return what becomes of one model's objects in one image: kinds of the predictions, kinds of the annotations."""
    from metrics import analysis

    size = case["image_height"], case["image_width"]
    return analysis.match_objects(annotations, predictions, iou, score, geometry, size, max_dets)


def labels(run_id: str) -> list[str]:
    """Return the classes of the suite of a run, in its order."""
    return list(workspace().run(run_id).suite.labels)


@st.cache_data(max_entries=128, show_spinner=False)
def segments(run_id: str, case_id: str, model: str, repeat: int) -> list[dict[str, Any]]:
    """Return the regions and mistakes of a segmented image as plain records; see metrics.analysis.Segment."""
    from dataclasses import asdict

    from metrics import analysis

    return [asdict(segment) for segment in analysis.segments(workspace().run(run_id), case_id, model, repeat)]


@st.cache_resource(max_entries=32, show_spinner=False)
def curves(run_id: str, evaluator: str) -> pd.DataFrame:
    """Return the curves of an evaluator, with `series`: the model, and the repeat where it has several. Read-only."""
    frame = workspace().run(run_id).curves(evaluator)
    several = frame.groupby("model")["run"].transform("nunique") > 1
    return frame.assign(series=frame["model"].where(~several, frame["model"] + " #" + frame["run"].astype(str)))


@st.cache_data(max_entries=64, show_spinner=False)
def curve_columns(run_id: str) -> dict[str, list[str]]:
    """Return the evaluators of a run that have curves, and the columns of these."""
    import pyarrow.parquet as pq

    run = workspace().run(run_id)
    paths = {name: run.table_path(f"curves/{name}") for name in run.curve_names()}
    return {name: pq.read_schema(path).names for name, path in paths.items() if path is not None}


@st.cache_data(max_entries=64, show_spinner=False)
def label_metrics(run_id: str) -> dict[str, list[str]]:
    """Return the evaluators of a run that have a number per class, and which metrics these are, as they are declared."""
    rows = (
        workspace()
        .run(run_id)
        .query(
            """SELECT DISTINCT evaluator, metric FROM aggregates
           WHERE label IS NOT NULL AND slice IS NULL AND value IS NOT NULL AND NOT contains(columns, '"predicted"')"""
        )
    )
    have, known = set(rows.itertuples(index=False, name=None)), catalogue()
    declared = {name: [metric["name"] for metric in known[name]["metrics"]] for name in known}
    found = {name: [metric for metric in metrics if (name, metric) in have] for name, metrics in declared.items()}
    return {name: found[name] for name in workspace().run(run_id).evaluators if found.get(name)}


@st.cache_resource(max_entries=128, show_spinner=False)
def label_numbers(run_id: str, evaluator: str, metrics: tuple[str, ...]) -> pd.DataFrame:
    """Numbers per class and over all of them (label null), with `series` as in `curves`. Read-only.

    Columns: series, model, metric, label, variant, value, low, high, n, columns (the metric's own, a dict); `variant`
    says in words which of these tell rows apart (`iou 0.5`). Of several repeats there is also the mean, as the model.
    """
    import json

    rows = workspace().run(run_id).query(
        """SELECT CASE WHEN run IS NULL THEN model ELSE model || ' #' || run END AS series, model, metric, label, value,
                  low, high, n, columns FROM aggregates
           WHERE evaluator = ? AND list_contains(?, metric) AND slice IS NULL""",
        [evaluator, list(metrics)],
    )  # fmt: skip
    own = [{name: value for name, value in json.loads(text).items() if value is not None} for text in rows["columns"]]
    varied = {
        name for name in {name for columns in own for name in columns}
        if len({columns[name] for columns in own if name in columns}) > 1
    }  # fmt: skip
    variants = [", ".join(f"{name} {columns[name]}" for name in columns if name in varied) for columns in own]
    return rows.assign(variant=variants, columns=own)


@st.cache_resource(max_entries=128, show_spinner=False)
def matches_at(
    run_id: str, evaluator: str, series: tuple[str, int], labels: tuple[str, ...], threshold: float, limit: int = 500
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the objects behind one point of a curve by threshold, and how many there are of tp, fp and fn. Read-only.

    `series` is (model, repeat). A match scored below the threshold is no longer made: its ground truth is missed. The
    rows, at most `limit` of each kind: false positives by falling, found ones by rising score.
    """
    import pandas as pd

    run = workspace().run(run_id)
    if evaluator not in run.match_names():
        return pd.DataFrame(columns=["case_id", "label", "kind", "score", "iou", "family"]), {}
    lost = "(kind = 'tp' AND score < $threshold)"
    moved = f"""
        SELECT case_id, label, CASE WHEN {lost} THEN 'fn' ELSE kind END AS kind,
               CASE WHEN {lost} THEN NULL ELSE score END AS score, iou,
               CASE WHEN {lost} THEN 'fn' ELSE left(kind, 2) END AS family
        FROM "matches_{evaluator}"
        WHERE model = $model AND run = $run AND list_contains($labels, label)
              AND NOT (kind LIKE 'fp%' AND score < $threshold)"""
    bound = {"model": series[0], "run": series[1], "labels": list(labels), "threshold": threshold}
    order = "CASE family WHEN 'fp' THEN -score ELSE score END NULLS LAST, case_id"
    rows = run.query(
        f"""SELECT *, count(*) OVER (PARTITION BY family) AS n FROM ({moved}) WHERE family IN ('tp', 'fp', 'fn')
            QUALIFY row_number() OVER (PARTITION BY family ORDER BY {order}) <= {int(limit)}
            ORDER BY family, {order}""",
        bound,
    )
    counts = rows.drop_duplicates("family").set_index("family")["n"].astype(int).to_dict()
    return rows.drop(columns="n"), counts


@st.cache_resource(max_entries=64, show_spinner=False)
def matched(
    run_id: str, evaluator: str, model: str, kinds: tuple[str, ...], label: str | None = None, limit: int = 1000
) -> tuple[pd.DataFrame, int]:
    """Return a model's matches of these kinds, at most `limit`, the surest first, and how many there are. Read-only."""
    where = "WHERE model = ? AND list_contains(?, kind) AND label = coalesce(?, label)"
    return _listed(run_id, f'FROM "matches_{evaluator}" {where}', [model, list(kinds), label], limit)


@st.cache_resource(max_entries=64, show_spinner=False)
def scored(
    run_id: str, evaluator: str, series: tuple[str, int], low: float, high: float, limit: int = 1000
) -> tuple[pd.DataFrame, int]:
    """Return the right and wrong predictions of low < score ≤ high (from 0 on where low is 0), and how many.
    Read-only.
    """
    where = """WHERE model = ? AND run = ? AND (score > ? OR score = 0 AND ? = 0) AND score <= ?
               AND (kind = 'tp' OR kind LIKE 'fp%')"""
    return _listed(run_id, f'FROM "matches_{evaluator}" {where}', [*series, low, low, high], limit)


@st.cache_resource(max_entries=64, show_spinner=False)
def confused(
    run_id: str, evaluator: str, series: tuple[str, int], labels: tuple[str, ...], predicted: tuple[str, ...],
    limit: int = 1000,
) -> tuple[pd.DataFrame, int]:  # fmt: skip
    """Return what is behind a cell of a confusion matrix, at most `limit`, the surest first; and how many. Read-only.

    The true label is one of `labels`, the predicted one of `predicted`, "(none)" standing for an absent one. Objects as
    matches where the evaluator tells them apart, else cases: case_id, score.
    """
    run = workspace().run(run_id)
    if evaluator in run.match_names():
        where = "WHERE model = ? AND run = ? AND list_contains(?, truth) AND list_contains(?, predicted)"
        return _listed(run_id, f'FROM "matches_{evaluator}" {where}', [*series, list(labels), list(predicted)], limit)
    from metrics.core.registry import evaluators

    if "segmentation" in evaluators()[evaluator].tasks:
        return _images_confused(run_id, evaluator, series, labels, predicted, limit)
    rows = run.query(
        """SELECT case_id, TRY_CAST(evidence ->> 'score' AS DOUBLE) AS score, evidence ->> 'predicted' AS guess
           FROM scores WHERE evaluator = ? AND model = ? AND run = ? AND status = 'ok' AND evidence IS NOT NULL
           AND list_contains(?, coalesce(evidence ->> 'truth', '(none)'))
           ORDER BY score DESC NULLS LAST, case_id""",
        [evaluator, *series, list(labels)],
    )  # fmt: skip
    parameters = evaluators()[evaluator].parameters(**run.evaluators[evaluator])
    spell = getattr(parameters, "normalised", str)  # an answer as a label, where the evaluator takes one for the other
    known = {*curves(run_id, evaluator)["label"], *curves(run_id, evaluator)["predicted"]} - {None}
    spelt = [None if guess is None else spell(guess) for guess in rows["guess"].where(rows["guess"].notna(), None)]
    held = rows.drop(columns="guess")[[(guess if guess in known else "(none)") in predicted for guess in spelt]]
    return held.head(limit).reset_index(drop=True), len(held)


def _images_confused(
    run_id: str, evaluator: str, series: tuple[str, int], labels: tuple[str, ...], predicted: tuple[str, ...],
    limit: int,
) -> tuple[pd.DataFrame, int]:  # fmt: skip
    """Return the images with pixels of a cell, those with the most first: case_id, pixels."""
    rows = workspace().run(run_id).query(
        """WITH cells AS (
               SELECT case_id, unnest(from_json(
                   evidence -> 'confusion', '[{"truth": "VARCHAR", "predicted": "VARCHAR", "pixels": "BIGINT"}]'
               )) AS cell
               FROM scores WHERE evaluator = ? AND model = ? AND run = ? AND evidence IS NOT NULL)
           SELECT case_id, sum(cell.pixels)::BIGINT AS pixels FROM cells
           WHERE list_contains(?, cell.truth) AND list_contains(?, coalesce(cell.predicted, '(none)'))
           GROUP BY case_id ORDER BY pixels DESC, case_id""",
        [evaluator, *series, list(labels), list(predicted)],
    )  # fmt: skip
    return rows.head(limit), len(rows)


def _listed(run_id: str, source: str, bound: list[Any], limit: int) -> tuple[pd.DataFrame, int]:
    rows = workspace().run(run_id).query(
        f"""SELECT case_id, label, kind, score, iou, count(*) OVER () AS n {source}
            ORDER BY score DESC NULLS LAST, case_id LIMIT {int(limit)}""",
        bound,
    )  # fmt: skip
    return rows.drop(columns="n"), int(rows["n"].iloc[0]) if len(rows) else 0


def match_evaluators(run_id: str) -> dict[str, str]:
    """Return the evaluators of a run of pictures that say what became of each object: id → title."""
    from metrics.core.registry import evaluators

    run = workspace().run(run_id)
    names = run.match_names() if run.spec["suite"]["task"] == "detection" else ()  # cases have matches too
    return {name: known.title if (known := evaluators().get(name)) else name for name in names}


def repeats(run_id: str, model: str) -> list[int]:
    """Return the repeats that there are of a model's outputs: 1, 2, …"""
    facts = workspace().outputs_facts(workspace().run(run_id).spec["outputs"]["fingerprint"])
    return list(facts["models"][model]["runs"])


@st.cache_resource(max_entries=64, show_spinner=False)
def objects(
    run_id: str, evaluator: str, sort: str, by_image: bool, limit: int, offset: int, **choice: Any
) -> tuple[list[dict[str, Any]], int, int]:
    """Return a page of a gallery's tiles, how many tiles and how many objects in all; see analysis.objects. Read-only.

    `choice` are the fields of metrics.analysis.ObjectFilter.
    """
    from metrics import analysis

    chosen = analysis.ObjectFilter(**choice)
    page = analysis.objects(workspace().run(run_id), evaluator, chosen, sort, by_image, limit, offset)
    return page.tiles, page.total, page.objects


@st.cache_resource(max_entries=256, show_spinner=False)
def object_counts(run_id: str, evaluator: str, **choice: Any) -> dict[str, dict[str, int]]:
    """Return how many objects each choice of kind, label, truth, size and tag would leave. Read-only."""
    from metrics import analysis

    return analysis.object_counts(workspace().run(run_id), evaluator, analysis.ObjectFilter(**choice))


def thumbnails(run_id: str, wanted: list[tuple[str, Any]], seconds: float) -> list[bytes | str | None]:
    """JPEG bytes, the reason for none, or None for not yet, of each (image, window); see metrics.analysis."""
    from metrics import analysis

    return list(analysis.thumbnails(workspace().run(run_id), wanted, seconds))
