"""lint(): all checks of predictions, each on the boxes as the checks before it would have them fixed;
and the fixes: each turns predictions into what the file seems to mean, and is recorded in the outputs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import ANNOTATIONS, PREDICTIONS, Outputs, Suite
from metrics.ingest.arrays import codes_of
from metrics.ingest.lint.box_checks import (
    CONVENTIONS,
    FEW_OUT,
    MOST_OUT,
    NORMALISED,
    PER_CENT,
    READINGS,
    normalised_finding,
    reading_finding,
    score_findings,
    sigmoid,
    size_findings,
)
from metrics.ingest.lint.class_checks import (
    NUMBERINGS,
    class_findings,
    label_findings,
    renumbered,
    spelling_findings,
    void_findings,
)
from metrics.ingest.lint.findings import Finding, per_cent, worst_first
from metrics.ingest.lint.object_checks import (
    CORRECT_IT,
    area_findings,
    other_image_finding,
    outline_finding,
    repeated_finding,
    shifted_finding,
)
from metrics.ingest.lint.scene import Boxes, leaving
from metrics.vision.geometry import BOX, whole

SOME_EMPTY = 0.1  # share of the images with objects up to which one without predictions is nothing to ask about
MOST_EMPTY = 0.5  # share of the images with objects that a detector may leave without predictions
FEWEST_IMAGES = 4
CORNERS = ("xyxy", "yxyx")  # of ground truth: predictions show these readings, others may be the predictions' own
ROUNDS = 3  # of lint and fix: a fix may show what another one needs


def lint(suite: Suite, outputs: Outputs) -> tuple[Finding, ...]:
    """Return what looks wrong with the ground truth and the predictions of a suite, serious findings first.

    Of every suite: classes that only differ in their spelling; of segmentation: a class of pixels without a class, and
    class numbers that are off by one. Of classification: numbers of classes that are off by
    one, or places in place of numbers; scores over 1, or below 0; cases without a prediction.
    Of detection, for every model: no predictions, or none in many images; boxes that are shares of the image, or
    x1 y1 x2 y2, centre and size, or y before x; boxes outside their image or without area; scores over 1, below 0, or
    all alike; class numbers as above; classes that disagree. Of the ground truth: no objects, and its boxes. Empty for
    suites of other tasks. Findings are evidence, not proof: each says with numbers what it rests on.

        >>> lint(Suite.from_rows("words", "text", [{"case_id": "1"}]), Outputs.from_rows([]))
        ()
    """
    if suite.task == "classification" and outputs.predictions is not None and not suite.label_keys:
        models = ((model, of_model(outputs, model)[0]) for model in outputs.models)
        found = [finding for model, table in models for finding in _label_findings(model, table, suite)]
        return worst_first([*spelling_findings(suite), *found])
    if suite.task not in ("detection", "segmentation"):
        return ()
    annotations = ANNOTATIONS.empty_table() if suite.annotations is None else suite.annotations
    truth = Boxes.of(suite, annotations, shaped=True)
    if suite.task == "segmentation":
        return worst_first(_mask_findings(suite, outputs, truth, annotations))
    found = [*_truth_findings(suite, truth, annotations, outputs), *spelling_findings(suite)]
    for model in outputs.models:
        found += _model_findings(suite, outputs, model, truth, annotations)
    return worst_first(found)


def _mask_findings(suite: Suite, outputs: Outputs, truth: Boxes, annotations: pa.Table) -> Iterator[Finding]:
    """Yield what is wrong with the classes of masks: those of predictions are compared by the boxes of regions."""
    yield from spelling_findings(suite)
    yield from void_findings(suite, annotations)
    for model in outputs.models:
        table, _ = of_model(outputs, model)
        boxes = Boxes.of(suite, table, shaped=True)
        found = class_findings(model, boxes, table["label"], truth, annotations["label"], suite)
        yield from (finding for finding in found if finding.kind == "class_numbers")


def _label_findings(model: str, table: pa.Table, suite: Suite) -> Iterator[Finding]:
    """Yield what is wrong with the scores and the classes of a classifier; equal scores are no finding."""
    scores = whole(table["score"]).to_numpy(zero_copy_only=False)
    keys = table.select(["case_id", "run"]).group_by(["case_id", "run"]).aggregate([([], "count_all")])
    wide = suite.cases["label"].null_count < len(suite) and pc.min(keys["count_all"]).as_py() != 1
    for finding in score_findings(model, scores):
        if wide and finding.kind in ("negative_scores", "scores_over_1") and finding.fix != "percent":
            text = f"{finding.text} Of several classes, ROC AUC is another one for logits than for probabilities."
            finding = replace(finding, text=text, fix="softmax")
        if finding.kind != "equal_scores":
            yield finding
    answered = pc.is_in(suite.cases["case_id"], value_set=pc.unique(table["case_id"]))
    if missing := len(suite) - (pc.sum(answered).as_py() or 0):
        text = f"No prediction for {missing:,} of {len(suite):,} cases: its numbers are of the others alone."
        yield Finding("cases_without_predictions", model, text, False, missing, len(suite))
    yield from label_findings(model, table, suite)


def advice(finding: Finding, remedy: Callable[[str, str], str]) -> list[str]:
    """Return lines: a finding with some images that show it, and what its fix does; `remedy` says how to ask."""
    lines = [str(finding) + (f" Images: {', '.join(finding.cases)}." if finding.cases else "")]
    if finding.model and finding.fix:
        lines.append(f"  {remedy(finding.model, finding.fix)}: {FIXES[finding.fix].words}")
    return lines


def fix_all(suite: Suite, outputs: Outputs) -> Outputs:
    """Return the outputs with the fix of every finding that has one applied, until no finding has another."""
    for _ in range(ROUNDS):
        done = {(change["model"], change["change"]) for change in outputs.changes}
        wanted = [finding for finding in lint(suite, outputs) if finding.fix]
        wanted = [finding for finding in wanted if (finding.model, finding.fix) not in done]
        if not wanted:
            break
        outputs = fix(suite, outputs, wanted)
    return outputs


def _model_findings(
    suite: Suite, outputs: Outputs, model: str, truth: Boxes, annotations: pa.Table
) -> Iterator[Finding]:
    table, _ = of_model(outputs, model)
    cases = whole(suite.cases["case_id"])
    if not len(table):
        text = "No predictions at all: an empty file, or a detector that found nothing?"
        yield Finding("no_predictions", model, text, True, len(suite), len(suite))
        return
    boxes = Boxes.of(suite, table)
    with_objects, predicted = np.unique(truth.image), np.unique(boxes.image)
    empty = np.setdiff1d(with_objects, predicted)
    if len(empty) > SOME_EMPTY * len(with_objects):
        text = f"No predictions in {len(empty):,} of {len(with_objects):,} images that have objects"
        if len(empty) > MOST_EMPTY * len(with_objects) and len(with_objects) >= FEWEST_IMAGES:
            text += f" ({per_cent(len(empty), len(with_objects))}): is the file complete?"
        else:
            text += ": a detector that found nothing there, or a file that lacks them?"
        some = tuple(cases.take(pa.array(empty[:5])).to_pylist())
        yield Finding("images_without_predictions", model, text, False, len(empty), len(with_objects), some)
    for check in (normalised_finding, partial(reading_finding, truth=truth)):
        finding = check(model, boxes, case_ids=cases)
        if finding is not None:
            yield finding
        if finding is not None and finding.fix is not None:
            table = FIXES[finding.fix].apply(table, suite)
            boxes = Boxes.of(suite, table)
    if boxes.plain.any():
        yield from _object_findings(model, boxes, table, cases)
        if (shifted := shifted_finding(model, boxes, truth, cases)) is not None:
            yield shifted
    shaped = Boxes.of(suite, table, shaped=True)
    if (outline := outline_finding(model, shaped, table, cases)) is not None:
        yield outline
    yield from score_findings(model, whole(table["score"]).to_numpy(zero_copy_only=False))
    yield from class_findings(model, shaped, table["label"], truth, annotations["label"], suite)


def _object_findings(model: str | None, boxes: Boxes, table: pa.Table, cases: pa.Array) -> Iterator[Finding]:
    sizes = [*size_findings(model, boxes, cases)]
    outside = any(finding.kind == "outside" for finding in sizes)
    other = None if outside else other_image_finding(model, boxes, cases)
    again = repeated_finding(model, boxes, table, cases)
    yield from (finding for finding in (*sizes, other, again) if finding is not None)


def _truth_findings(suite: Suite, truth: Boxes, annotations: pa.Table, outputs: Outputs) -> Iterator[Finding]:
    cases = whole(suite.cases["case_id"])
    if not len(truth):
        text = "No objects in any image: every prediction is false, and AP has no value."
        yield Finding("no_objects", None, text, True, len(suite), len(suite))
        return
    if not truth.plain.any():
        return
    finding = normalised_finding(None, truth, cases)
    if finding is not None:
        yield replace(finding, fix=None, text=f"{finding.text} {CORRECT_IT}")
        return
    yield from _object_findings(None, truth, annotations, cases)
    if (outline := outline_finding(None, truth, annotations, cases)) is not None:
        yield outline
        return
    areas = [*area_findings(truth, annotations, cases)]
    yield from areas
    if any(finding.kind == "convention" for finding in areas):
        return
    if outputs.predictions is not None:
        order = np.argsort(-whole(outputs.predictions["score"]).to_numpy(zero_copy_only=False), kind="stable")
        best = Boxes.of(suite, outputs.predictions.take(pa.array(order[: len(truth)])))
        finding = reading_finding(None, truth, best, cases, CORNERS)
        if finding is not None:
            text = finding.text.replace("of the objects", "of the surest predictions")
            yield replace(finding, fix=None, text=f"{text} {CORRECT_IT}")
            return
    corners = leaving(READINGS["xyxy"].convert(truth.box, truth.sizes), truth.sizes)[truth.plain]
    out = leaving(truth.box, truth.sizes)[truth.plain]
    if out.mean() >= MOST_OUT and corners.mean() <= FEW_OUT:
        text = f"Read as x1 y1 x2 y2, {per_cent(corners.sum(), len(corners))} of the boxes would leave. {CORRECT_IT}"
        yield Finding("convention", None, text, True, int(out.sum()), len(out))


class Fix(NamedTuple):
    """A fix: what a button says, what the run records, and the change of a model's predictions."""

    title: str
    words: str
    apply: Callable[[pa.Table, Suite], pa.Table]


def _boxes_read_as(name: str, table: pa.Table, suite: Suite) -> pa.Table:
    boxes = Boxes.of(suite, table)
    converted = READINGS[name].convert(boxes.box, boxes.sizes)
    box = np.where(boxes.plain[:, None] & np.isfinite(converted).all(axis=1, keepdims=True), converted, boxes.box)
    for place, side in enumerate(BOX):
        table = _with(table, side, pa.array(box[:, place], from_pandas=True))
    area = pa.array(box[:, 2] * box[:, 3], from_pandas=True)
    return _with(table, "area", pc.if_else(pa.array(boxes.plain), area, whole(table["area"])))


def _scores(change: Callable[[Floats], Floats], table: pa.Table, _: Suite) -> pa.Table:
    score = whole(table["score"]).to_numpy(zero_copy_only=False)
    return _with(table, "score", pa.array(change(score), from_pandas=True))


def _softmax(table: pa.Table, _: Suite) -> pa.Table:
    """Return the scores as probabilities of the classes of each case and run."""
    score = whole(table["score"]).to_numpy(zero_copy_only=False)
    numbers = np.stack([codes_of(table["case_id"])[0], np.asarray(table["run"])], axis=1)
    case = np.unique(numbers, axis=0, return_inverse=True)[1].ravel()
    most = np.full(case.max() + 1, -np.inf)
    np.fmax.at(most, case, score)
    raised = np.exp(score - most[case])
    total = np.bincount(case, np.nan_to_num(raised))
    return _with(table, "score", pa.array(raised / total[case], from_pandas=True))


def _labels(name: str, table: pa.Table, suite: Suite) -> pa.Table:
    return _with(table, "label", renumbered(name, table["label"], suite))


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, values)


# In the order in which they are applied: what boxes mean is asked of pixels, what classes mean of boxes that fit.
FIXES: Mapping[str, Fix] = MappingProxyType(
    {
        NORMALISED: Fix("Scale to pixels", "boxes scaled from shares of the image to pixels",
                        partial(_boxes_read_as, NORMALISED)),
        **{
            name: Fix(f"Convert from {READINGS[name].words}",
                      f"boxes converted from {READINGS[name].words} to x y width height", partial(_boxes_read_as, name))
            for name in CONVENTIONS
        },
        "percent": Fix("Divide the scores by 100", "scores divided by 100",
                       partial(_scores, lambda score: score / PER_CENT)),
        "sigmoid": Fix("Turn the scores into 0 … 1", "scores turned from logits into 0 … 1 by the sigmoid",
                       partial(_scores, sigmoid)),
        "softmax": Fix(
            "Turn the scores into probabilities",
            "scores turned from logits into probabilities of the classes of a case by the softmax", _softmax,
        ),
        **{
            name: Fix("Renumber the classes", f"classes renumbered: their numbers were {words}", partial(_labels, name))
            for name, (words, _) in NUMBERINGS.items()
        },
    }
)  # fmt: skip


def fix(suite: Suite, outputs: Outputs, wanted: Iterable[Finding | tuple[str, str]]) -> Outputs:
    """Return the outputs with fixes applied, each recorded in `changes`.

    `wanted` are findings, of which those without a fix are passed over, or pairs of a model and a name in FIXES. The
    fixes of one model are applied in the order of FIXES. InputError listing unknown models and fixes.
    """
    pairs = [(one.model, one.fix) if isinstance(one, Finding) else one for one in wanted]
    asked = {(model, name) for model, name in pairs if model is not None and name is not None}
    problems = [InputProblem("fix", repr(name), "one of " + ", ".join(FIXES)) for _, name in asked if name not in FIXES]
    unknown = {model for model, _ in asked}.difference(outputs.models)
    expected = "one of the models " + ", ".join(outputs.models)
    problems += [InputProblem("fix", repr(model), expected) for model in unknown]
    if problems:
        raise InputError(problems)
    for name in FIXES:
        for model in outputs.models:
            if (model, name) in asked:
                outputs = _fixed(suite, outputs, model, name)
    return outputs


def of_model(outputs: Outputs, model: str) -> tuple[pa.Table, Bools]:
    """Return the predictions of a model, and which rows of all predictions they are."""
    table = PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions
    mine: Bools = np.asarray(pc.equal(table["model"], model).combine_chunks(), np.bool_)
    return table.filter(pa.array(mine)), mine


def changed(outputs: Outputs, model: str, change: str, text: str, count: int, predictions: pa.Table) -> Outputs:
    """Return the outputs with other predictions and the record of what was changed."""
    record: Mapping[str, Any] = {"model": model, "change": change, "predictions": count, "text": text}
    return replace(outputs, predictions=predictions, changes=(*outputs.changes, record))


def _fixed(suite: Suite, outputs: Outputs, model: str, name: str) -> Outputs:
    table, mine = of_model(outputs, model)
    if not len(table):
        return outputs
    done = FIXES[name].apply(table, suite)
    place = np.arange(len(mine))  # rows of other models stay where they are: the order in an image decides ties
    place[mine] = len(mine) + np.arange(len(done))
    both = pa.concat_tables([outputs.predictions, done.cast(outputs.predictions.schema)])  # type: ignore[union-attr]
    return changed(outputs, model, name, FIXES[name].words, len(table), both.take(pa.array(place)))
