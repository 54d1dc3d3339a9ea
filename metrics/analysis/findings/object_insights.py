"""Insights about objects that say what to change: boxes that all lie to one side, and pairs of classes confused."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from metrics.analysis.findings.model_insights import Insight, insight_row
from metrics.analysis.leaderboard.leaderboard import Leaderboard
from metrics.analysis.objects.matching_again import compared, rules
from metrics.analysis.objects.object_index import object_index
from metrics.analysis.stored_outputs import outputs_where
from metrics.core.array_types import Bools, Ints
from metrics.core.number_text import number
from metrics.stats.cluster_variance import cluster_variance
from metrics.stats.corrections import holm, is_significant
from metrics.stats.student_t import student, student_p
from metrics.store import Run

MAX_ITEMS = 20_000  # images times models that are matched again: insights must not take minutes
MIN_SHIFT = 0.03  # of a box's side: a smaller one hardly costs AP
MIN_IMAGES = 5  # with matched boxes: of fewer nothing is said about all
MIN_GAIN = 0.01  # of AP or accuracy
MAX_CASES = 200  # that are listed
MAX_PAIRS = 3  # pairs of classes of a model whose cost is computed, the most frequent
DIRECTIONS = (  # of each measure, the words for less and for more
    ("to the left", "to the right"), ("too high", "too low"), ("too narrow", "too wide"), ("too short", "too tall"),
)  # fmt: skip


class Shift(NamedTuple):
    """How far a model's matched boxes are off on average, as a share of the true box's side, with its 95 % interval."""

    words: str
    value: float
    low: float
    high: float
    p: float
    boxes: int
    images: int
    worst: Ints  # positions of the cases in which they are off the most


class ClassPair(NamedTuple):
    """Two classes that a model takes for each other: what AP50 gains if that were right, how often, in which cases."""

    classes: tuple[str, str]
    gain: float
    gain_of_all: float
    boxes: int
    positions: Ints


def object_insights(run: Run, board: Leaderboard) -> Iterator[Insight]:
    """Yield shifted boxes and the pair of classes whose confusion costs each model of a detection run the most AP50."""
    names = run.match_names()
    if run.spec.suite.task != "detection" or not names or run.spec.suite.cases * len(run.models) > MAX_ITEMS:
        return
    evaluator = "coco_summary" if "coco_summary" in names else names[0]
    if rules(run, evaluator).keyed or any(compared(run, model, 1, evaluator) == "keypoints" for model in run.models):
        return
    cases = run.case_columns(["case_id"])["case_id"].to_pylist()
    measured = {model: list(shifts(run, evaluator, model)) for model in run.models}
    adjusted = holm(np.array([one.p for own in measured.values() for one in own]))
    place = 0
    for model, own in measured.items():
        kept = [one for one, p in zip(own, adjusted[place : place + len(own)], strict=True) if _matters(one, p)]
        place += len(own)
        if kept:
            yield _shift_row(board, evaluator, model, kept, cases)
        if pair := costliest_pair(run, evaluator, model):
            ids = [cases[position] for position in pair.positions]
            evidence = (
                f"{pair.boxes:,} boxes of one found as the other; AP50 computed again with their class right, "
                f"+{number(pair.gain_of_all)} with the class of every such box"
            )
            yield _pair_row(model, "AP50", pair.classes, pair.gain, ids, evidence, evaluator)


def _matters(one: Shift, p: float) -> bool:
    return bool(is_significant(p)) and abs(one.value) >= MIN_SHIFT


def _shift_row(board: Leaderboard, evaluator: str, model: str, kept: list[Shift], cases: list[str]) -> Insight:
    """Return the insight of boxes that are off; with AP50 and AP75 where the run has both, whose gap it explains."""
    first = max(kept, key=lambda one: abs(one.value))
    values = {
        column.metric: cell.value
        for column in board.columns
        if column.evaluator == evaluator and (cell := board.cells.get((model, column.key))) is not None
    }
    loose, strict = (values.get(name) for name in ("AP50", "AP75"))
    gap = "" if loose is None or strict is None else f"AP50 {number(loose)}, AP75 {number(strict)}: "
    also = "".join(f", {100 * abs(one.value):.0f} % {one.words}" for one in kept if one is not first)
    ids = [cases[position] for position in first.worst]
    numbers = "; ".join(
        f"{one.words} {100 * one.value:.1f} % ({100 * one.low:.1f}–{100 * one.high:.1f})" for one in kept
    )
    verb = "lie" if first.words.startswith("to the") else "are"
    return insight_row(
        "shifted_boxes", f"{model}: {gap}boxes {verb} {100 * first.value:.0f} % {first.words}{also}", metric="IoU",
        model=model, value=first.value, severity="high", affected=first.images, case_ids=ids[:MAX_CASES],
        evidence=f"of the true box's side, over {first.boxes:,} matched boxes in {first.images:,} images: {numbers}; "
        "Holm-corrected over models and directions",
        of=[evaluator],
    )  # fmt: skip


def shifts(run: Run, evaluator: str, model: str) -> Iterator[Shift]:
    """Yield how far a model's matched boxes are off: their centre along x and y, their width and height.

    Images are the units of the test. A box that is off by so much that it matches nothing does not count, so that the
    true shift is rather larger.
    """
    index = object_index(run, evaluator, model)
    annotations = run.suite.annotations
    right = np.array([kind == "tp" for kind in index.kinds])[index.kind] & (index.annotation >= 0)
    if annotations is None or not right.any():
        return
    columns = [annotations[name].to_numpy(zero_copy_only=False).astype(float) for name in ("x", "y", "width", "height")]
    true = np.stack(columns, axis=1)[index.annotation[right]]
    found, position = index.prediction_box[right].astype(float), index.position[right]
    whole = np.isfinite(true).all(axis=1) & np.isfinite(found).all(axis=1) & (true[:, 2:] > 0).all(axis=1)
    true, found, position = true[whole], found[whole], position[whole]
    sides = true[:, 2:]
    centre = (found[:, :2] + found[:, 2:] / 2 - true[:, :2] - sides / 2) / sides
    off = np.concatenate([centre, found[:, 2:] / sides - 1], axis=1)
    images, unit = np.unique(position, return_inverse=True)
    if len(images) < MIN_IMAGES:
        return
    masses = np.bincount(unit).astype(float)[:, None]
    mean = off.mean(axis=0)
    by_image = np.stack([np.bincount(unit, one) for one in off.T], axis=1)
    variance, freedom = cluster_variance(by_image - masses * mean, masses, masses)
    error = np.sqrt(variance)
    p = student_p(np.abs(mean) / np.maximum(error, 1e-12), freedom)
    reach = np.array([student(one) for one in freedom]) * error
    for place, (less, more) in enumerate(DIRECTIONS):
        sign = 1.0 if mean[place] >= 0 else -1.0
        value, around = sign * float(mean[place]), float(reach[place])
        worst = images[np.argsort(-sign * by_image[:, place] / masses[:, 0], kind="stable")]
        yield Shift(
            more if sign > 0 else less, value, value - around, value + around, float(p[place]), len(off), len(images),
            worst,
        )  # fmt: skip


def costliest_pair(run: Run, evaluator: str, model: str) -> ClassPair | None:
    """Return the two classes whose confusion costs a model the most AP50: it is computed again as if it were right.

    As TIDE repairs classification errors: the best-scored one about a missed object gets its class, others are dropped.
    """
    from metrics.evaluators.detection._matched import grid_with, match_objects
    from metrics.vision.error_breakdown import find_errors, repair, repaired_ap
    from metrics.vision.outcomes import MISCLASSIFIED

    geometry: Any = run.evaluators[evaluator].get("geometry", "auto")
    outputs = outputs_where(run, [("model", "==", model), ("run", "==", 1)])
    every = match_objects(
        run.suite, outputs, grid_with(0.5), geometry=geometry, benchmark=rules(run, evaluator).benchmark
    )
    scene = every.scene
    objects = scene.objects
    errors = find_errors(objects, every.matches, scene.overlaps(0.1), 0.5, 0.1)
    wrong = errors.prediction == MISCLASSIFIED
    rows = np.flatnonzero(wrong)
    if not len(rows):
        return None
    classes = np.stack([objects.prediction_class[rows], objects.truth_class[errors.truth[rows]]], axis=1)
    classes.sort(axis=1)
    once = np.ones((1, objects.images), np.uint8)

    def average(kinds: tuple[int, ...], only: Bools | None = None) -> float:
        return float(np.nanmean(repaired_ap(objects, errors, repair(objects, errors, kinds, only), once)))

    base, of_all = average(()), average((MISCLASSIFIED,))
    best: ClassPair | None = None
    for pair, count in Counter(map(tuple, classes.tolist())).most_common(MAX_PAIRS):
        only = np.zeros(len(wrong), np.bool_)
        only[rows[(classes == pair).all(axis=1)]] = True
        gain = average((MISCLASSIFIED,), only) - base
        if gain >= MIN_GAIN and (best is None or gain > best.gain):
            first, second = sorted(scene.labels[code] for code in pair)
            best = ClassPair((first, second), gain, of_all - base, count, np.unique(objects.prediction_image[only]))
    return best


def confused_classes(run: Run) -> Iterator[Insight]:
    """Yield, for each model of a classification run, the two classes whose confusion costs the most accuracy."""
    if run.spec.suite.task != "classification" or "classification" not in run.evaluators:
        return
    rows = run.query(
        """SELECT model, case_id, least(evidence ->> 'truth', evidence ->> 'predicted') AS one,
               greatest(evidence ->> 'truth', evidence ->> 'predicted') AS other
           FROM scores WHERE evaluator = 'classification' AND metric = 'accuracy' AND run = 1 AND status = 'ok'
           AND evidence ->> 'predicted' IS NOT NULL ORDER BY model, case_id"""
    )
    for model, own in rows.groupby("model"):
        wrong = own[own["one"] != own["other"]].groupby(["one", "other"])["case_id"].agg(list)
        if wrong.empty or len({*own["one"], *own["other"]}) < 3:  # of two classes there is only one pair
            continue
        pair: Any = wrong.map(len).idxmax()
        ids: list[str] = wrong[pair]
        gain = len(ids) / len(own)
        if gain >= MIN_GAIN:
            evidence = (
                f"{len(ids):,} of {len(own):,} cases are one taken for the other, of {wrong.map(len).sum():,} that are "
                "wrong"
            )
            yield _pair_row(str(model), "accuracy", pair, gain, ids, evidence, "classification")


def _pair_row(
    model: str, metric: str, classes: tuple[str, str], gain: float, ids: list[str], evidence: str, evaluator: str
) -> Insight:
    message = f"{model}: +{number(gain)} {metric} if {'/'.join(classes)} were right: open these {len(ids)}"
    return insight_row(
        "confused_classes", message, metric=metric, model=model, value=gain, severity="high", affected=len(ids),
        case_ids=ids[:MAX_CASES], evidence=evidence, of=[evaluator],
    )  # fmt: skip
