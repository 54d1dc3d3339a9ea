"""A run in Valor's nested JSON: a list of {type, parameters, value}, with a label where the value is of one.

    {"type": "AP", "parameters": {"model": "m", "iou": 0.5}, "value": 0.7, "label": {"key": "class", "value": "cat"}}
    {"type": "PrecisionRecallCurve", "parameters": {"model": "m", "label_key": "class", "pr_curve_iou_threshold": 0.5},
     "value": {"cat": {"0.05": {"tp": 3, "fp": 1, "fn": 0, "precision": 0.75, "recall": 1.0, "f1_score": 0.857}}}}

Every value is one of the run's tables, over all cases, with 15 significant digits; null where there is none. Labels
without keys have the key `label`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from metrics.core.label_keys import KEY
from metrics.core.rounding import none_if_nan, round_tree
from metrics.presentation.board_words import from_run
from metrics.presentation.chart_data.confusion_counts import NONE, margins_of
from metrics.presentation.safe_text import shown_tree
from metrics.store import Run

Record = dict[str, Any]
NO_KEY = "label"  # the key of labels that have none
AGGREGATES = {  # by evaluator and metric: the type, and the metric's own columns and parameters that it is taken at
    ("classification", "accuracy"): ("Accuracy", ()),
    ("classification", "precision"): ("Precision", ("average",)),
    ("classification", "recall"): ("Recall", ("average",)),
    ("classification", "f1"): ("F1", ("average",)),
    ("roc_auc", "roc_auc"): ("ROCAUC", ()),
    ("average_precision", "ap"): ("AP", ("iou",)),
    ("average_precision", "ap_averaged"): ("APAveragedOverIOUs", ("iou_thresholds",)),
    ("average_precision", "map"): ("mAP", ("iou",)),
    ("average_precision", "map_averaged"): ("mAPAveragedOverIOUs", ("iou_thresholds",)),
    ("average_recall", "ar"): ("AR", ("iou_thresholds", "recall_score_threshold")),
    ("average_recall", "mar"): ("mAR", ("iou_thresholds", "recall_score_threshold")),
    ("segmentation_iou", "iou"): ("IOU", ()),
    ("segmentation_iou", "miou"): ("mIOU", ()),
}
TEXTS = {  # by evaluator: the type; the value is that of the only metric, or has all by name
    "answer_correctness": "AnswerCorrectness", "answer_relevance": "AnswerRelevance", "bias": "Bias", "bleu": "BLEU",
    "context_precision": "ContextPrecision", "context_recall": "ContextRecall", "context_relevance": "ContextRelevance",
    "faithfulness": "Faithfulness", "hallucination_contexts": "Hallucination", "rouge": "ROUGE",
    "summary_coherence": "SummaryCoherence", "toxicity": "Toxicity",
}  # fmt: skip
CURVES = ("classification_pr_curve", "detection_pr_curve")
DETAILED = ("classification_pr_curve_detailed", "detection_pr_curve_detailed")
CONFUSIONS = ("classification", "detection_confusion")
TEXT_PARAMETERS = {"bleu": ("weights",), "rouge": ("rouge_types", "use_stemmer")}
COUNTS = ("tp", "fp", "fn", "tn")
RATES = {"precision": "precision", "recall": "recall", "f1": "f1_score"}
OBSERVATIONS = {  # by kind of the curve: the count it belongs to, and its name there
    "tp": ("tp", "all"),
    "fp_misclassification": ("fp", "misclassifications"),
    "fp_hallucination": ("fp", "hallucinations"),
    "fn_misclassification": ("fn", "misclassifications"),
    "fn_no_prediction": ("fn", "no_predictions"),
    "tn": ("tn", "all"),
}


def valor_json(run: Run) -> bytes:
    """Return a finished run as Valor's JSON; RunError where it is not finished."""
    records = round_tree(shown_tree(valor_records(run)))
    return (json.dumps(records, ensure_ascii=False, allow_nan=False) + "\n").encode()


def has_metrics(run: Run) -> bool:
    """Return whether a run has an evaluator whose metrics Valor knows."""
    known = {*(name for name, _ in AGGREGATES), *TEXTS, *CURVES, *DETAILED, *CONFUSIONS}
    return not known.isdisjoint(run.evaluators)


def valor_records(run: Run) -> list[Record]:
    """Return the metrics that Valor knows: aggregates, curves, confusion matrices, then texts case by case."""
    parts = (_aggregates(run), _curves(run), _details(run), _confusions(run), _texts(run))
    return [record for part in parts for record in part]


def _aggregates(run: Run) -> Iterator[Record]:
    rows = run.stored_table("aggregates")
    for row in rows.filter(pc.and_(pc.is_null(rows["run"]), pc.is_null(rows["slice"]))).to_pylist():
        found = AGGREGATES.get((row["evaluator"], row["metric"]))
        if found is None:
            continue
        kind, names = found
        own, given = json.loads(row["columns"]), run.evaluators[row["evaluator"]]
        taken = {name: own[name] if name in own else given.get(name) for name in names}
        parameters: Record = {"model": row["model"], **from_run(run, row["model"], row["evaluator"])}
        if row["label"] is None:
            parameters["label_key"] = own.get(KEY, NO_KEY)
        parameters |= {name: value for name, value in taken.items() if value is not None}
        key = own.get(KEY)
        label = {} if row["label"] is None else {"label": {"key": key or NO_KEY, "value": _value(row["label"], key)}}
        yield {"type": kind, "parameters": parameters, "value": row["value"]} | label


def _curves(run: Run) -> Iterator[Record]:
    for name, at, key, points in _points(run, CURVES):
        value: Record = {}
        for row in points.to_dict("records"):
            counts = {count: int(row[count]) for count in COUNTS if not pd.isna(row[count])}
            rates = {spelled: none_if_nan(row[rate]) for rate, spelled in RATES.items()}
            value.setdefault(_value(row["label"], key), {})[str(round_tree(row["threshold"]))] = counts | rates
        given = {"pr_curve_iou_threshold": run.evaluators[name].get("pr_curve_iou_threshold")}
        yield {"type": "PrecisionRecallCurve", "parameters": at | given, "value": value}


def _details(run: Run) -> Iterator[Record]:
    suite = run.spec.suite.name
    for name, at, key, points in _points(run, DETAILED):
        value: Record = {}
        for row in points.to_dict("records"):
            here = value.setdefault(_value(row["label"], key), {}).setdefault(str(round_tree(row["threshold"])), {})
            count, observation = OBSERVATIONS[row["kind"]]
            entry = here.setdefault(count, {"total": 0, "observations": {}})
            entry["total"] += int(row["count"])
            examples = [_example(suite, example) for example in json.loads(row["examples"])]
            entry["observations"][observation] = {"count": int(row["count"]), "examples": examples}
        given = {each: run.evaluators[name].get(each) for each in ("pr_curve_iou_threshold", "pr_curve_max_examples")}
        yield {"type": "DetailedPrecisionRecallCurve", "parameters": at | given, "value": value}


def _example(suite: str, example: str | Mapping[str, str]) -> list[str]:
    """Return an example as data set, datum and, of an object, its geometry as GeoJSON text."""
    return [suite, example] if isinstance(example, str) else [suite, example["case_id"], example["geometry"]]


def _confusions(run: Run) -> Iterator[Record]:
    for name, at, key, points in _points(run, CONFUSIONS):
        objects = name == "detection_confusion"
        matrix: dict[str, dict[str, int]] = {}
        alone: dict[str, dict[str, int]] = {"hallucinations": {}, "missing_predictions": {}}
        margins = margins_of(points) if objects else ("", "")
        for truth, predicted, count in points[["label", "predicted", "count"]].itertuples(index=False, name=None):
            if objects and truth == margins[0]:
                alone["hallucinations"][_value(predicted, key)] = int(count)
            elif objects and predicted == margins[1]:
                alone["missing_predictions"][_value(truth, key)] = int(count)
            else:
                matrix.setdefault(_value(truth, key), {})[_value(predicted, key)] = int(count)
        given = run.evaluators[name]
        names = ("score_threshold", "iou_threshold") if objects else ()
        value = {"confusion_matrix": matrix} | (alone if objects else {})
        yield {"type": "ConfusionMatrix", "parameters": at | {each: given[each] for each in names}, "value": value}


def _texts(run: Run) -> Iterator[Record]:
    """Yield the values of single answers, those of repeats too."""
    columns = ["case_id", "model", "run", "metric", "value"]
    for name, given in run.evaluators.items():
        if name not in TEXTS:
            continue
        own = {each: given[each] for each in TEXT_PARAMETERS.get(name, ())}
        scores = run.stored_table("scores", columns, [("evaluator", "=", name)]).to_pandas()
        for (case_id, model, repeat), rows in scores.groupby(["case_id", "model", "run"], sort=False):
            values = {metric: none_if_nan(value) for metric, value in zip(rows["metric"], rows["value"], strict=True)}
            at = {"model": model, "dataset": run.spec.suite.name, "datum_uid": case_id, "run": int(repeat)}
            at |= from_run(run, model, name)
            last = max(values, key=lambda metric: (len(metric), metric))  # of BLEU's orders the one that is weighted
            value = values[last] if name == "bleu" else values if len(values) > 1 else next(iter(values.values()))
            yield {"type": TEXTS[name], "parameters": at | own, "value": value}


def _points(run: Run, names: Sequence[str]) -> Iterator[tuple[str, Record, str | None, pd.DataFrame]]:
    """Yield the curves of these evaluators apart by model, repeat and key of labels: name, these as parameters, key."""
    for name in names:
        frame = run.curves(name)
        if frame.empty:
            continue
        several = frame.groupby("model")["run"].nunique().max() > 1
        groups = ["model", "run", *([KEY] if KEY in frame else [])]
        group: Any
        for group, points in frame.groupby(groups, sort=False):
            model, repeat, *keys = group
            key = keys[0] if keys else None
            at = (
                {"model": model}
                | from_run(run, model, name)
                | ({"run": int(repeat)} if several else {})
                | {"label_key": key or NO_KEY}
            )
            yield name, at, key, points


def _value(label: str | None, key: str | None) -> str:
    """Return a label without its key."""
    text = NONE if label is None else label
    return text if key is None else text.removeprefix(f"{key}=")
