"""Small data sets of every task evaluated end to end, with many a tie on paper.

`python -m tests.processors.scene NAME…` prints as JSON every verdict, rank, order and number that comes of them.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

from metrics import analysis
from metrics.analysis.preferences.preferred import judge_and_people, more_matches, position_bias, preferred
from metrics.core.rounding import exact_sum
from metrics.core.suite import Outputs, Suite
from metrics.stats import slice_search
from metrics.stats.item_response import two_parameter
from metrics.stats.judge_correction import corrected_mean
from metrics.stats.meta_analysis import Study, pooled_means
from metrics.stats.model_ranking import first_shares, turning_point
from metrics.stats.rater_agreement import alphas, draws_of, fleiss_kappas, kappas, spearmans
from metrics.stats.short_suite import by_information, cross_fitted
from metrics.stats.slice_means import pooled
from metrics.stats.variance_components import resampled_components
from metrics.store import Run, Workspace
from metrics.vision import matching, objects, precision_recall
from tests.engine.engine_scenes import finished
from tests.preferences import MODELS, compared_run, judgement, vote
from tests.stats.slice_scenes import noise

TEXTS = ("rouge", "exact_match", "bleu")
WORDS = "the river runs past an old mill where nine herons wait for the evening train".split()
LABELS = ("cat", "dog", "eel")
NAMES = ("amber", "birch", "cedar")


def texts(workspace: Workspace, size: int = 48) -> Run:
    """Answers of three models, each with repeats: two lack as many words, of other cases; the third fails one tag."""
    cases = [
        {
            "case_id": f"c{index}", "question": f"What runs past {WORDS[index % 7]}?", "group": f"g{index // 2}",
            "expected_answers": [" ".join(WORDS[: 5 + index % 9])], "tags": [f"t{index % 3}"],
        }
        for index in range(size)
    ]  # fmt: skip

    def answer(index: int, model: str, repeat: int) -> str:
        cut = {"amber": index % 4, "birch": 3 - index % 4, "cedar": 4 * (index % 3 == 0)}[model] + repeat * (
            index % 5 == 0
        )
        return " ".join(WORDS[: 5 + index % 9 - cut]) or "mill"

    rows = [
        {
            "case_id": f"c{index}", "model": model, "run": repeat + 1, "answer": answer(index, model, repeat),
            "cost_usd": 0.001 * (1 + index % 3), "duration_s": 0.1 * (1 + index % 4),
        }
        for model in NAMES for index in range(size) for repeat in range(2)
    ]  # fmt: skip
    return finished(workspace, Suite.from_rows("texts", "text", cases), Outputs.from_rows(rows), *TEXTS)


def classes(workspace: Workspace, size: int = 60) -> Run:
    """Scores of three classes, those of two models mirrored."""
    truth = [LABELS[index % 3] for index in range(size)]
    rows, scores = [], []
    for model, turn in (("amber", 0), ("birch", 1)):
        for index in range(size):
            own = [round(0.2 + 0.1 * ((index * 7 + place + turn) % 5), 1) for place in range(3)]
            own[index % 3] += 0.3 * ((index + turn) % 4 > 0)
            rows.append({"case_id": f"c{index}", "model": model, "label": LABELS[int(np.argmax(own))]})
            scores += [
                {"case_id": f"c{index}", "model": model, "label": label, "score": score / exact_sum(own)}
                for label, score in zip(LABELS, own, strict=True)
            ]
    cases = [{"case_id": f"c{index}", "label": label} for index, label in enumerate(truth)]
    suite = Suite.from_rows("classes", "classification", cases, labels=LABELS)
    names = ("classification", "calibration", "roc_auc", "classification_pr_curve", "selective_accuracy")
    return finished(workspace, suite, Outputs.from_rows(rows, scores), *names)


def numbers(workspace: Workspace, size: int = 40) -> Run:
    """Predicted numbers with errors that are the same on paper, in another order."""
    cases = [{"case_id": f"c{index}", "true_value": 0.1 * index} for index in range(size)]
    rows = [
        {"case_id": f"c{index}", "model": model, "predicted_value": 0.1 * index + 0.1 * ((index + turn) % 4)}
        for turn, model in enumerate(NAMES) for index in range(size)
    ]  # fmt: skip
    return finished(workspace, Suite.from_rows("numbers", "regression", cases), Outputs.from_rows(rows), "regression")


def boxes(workspace: Workspace, size: int = 16) -> Run:
    """Boxes whose overlaps lie at the thresholds, and scores that tie."""
    truths = [
        {
            "case_id": f"c{index}", "label": LABELS[(index + place) % 2], "x": 10.0 * place, "y": 5.0, "width": 8.0,
            "height": 6.0 + index % 3,
        }
        for index in range(size) for place in range(2)
    ]  # fmt: skip
    found = [
        row | {"model": model, "x": row["x"] + shift * (place % 3), "score": round(0.3 + 0.1 * (place % 6), 1)}
        for model, shift in (("amber", 1.0), ("birch", 4 / 3)) for place, row in enumerate(truths) if place % 5
    ]  # fmt: skip
    cases = [{"case_id": f"c{index}"} for index in range(size)]
    annotations = [row | {"annotation_id": place} for place, row in enumerate(truths, 1)]
    suite = Suite.from_rows("boxes", "detection", cases, annotations, LABELS[:2])
    rows = [{"case_id": case["case_id"], "model": model} for model in ("amber", "birch") for case in cases]
    return finished(workspace, suite, Outputs.from_rows(rows, found), "average_precision", "detection_pr_curve")


def of_texts(workspace: Workspace) -> Iterator[Any]:
    run = texts(workspace)
    yield from of_run(run)
    rouge, share = ("rouge", "rougeL"), ("exact_match", "exact_match")
    for one, other in combinations(NAMES, 2):
        found = analysis.compare(run, one, other)
        yield found.rows
        yield analysis.decisions(found, {"rouge/rougeL": 0.05, "exact_match/exact_match": 0.1})
    for key in (rouge, share):
        yield analysis.head_to_head(run, *key), analysis.case_items(run, *key), analysis.noise(run, *key)
    weights = {"rouge/rougeL": 0.3, "exact_match/exact_match": 0.3, "bleu/bleu4": 0.4}
    yield analysis.weighted_scores(run, weights), analysis.pareto_front(run, [*weights, "cost_usd"])
    together = analysis.several_suites([run, run], "rouge/rougeL")
    yield together.overall, together.q, together.p, together.tau, together.leaders
    yield analysis.find_slices(run, "cedar", *rouge).slices, analysis.problems(run)


def of_others(workspace: Workspace) -> Iterator[Any]:
    for make in (classes, numbers, boxes):
        run = make(workspace)
        yield from of_run(run)
        yield analysis.compare(run, "amber", "birch").resampled


def of_loops(_: Workspace) -> Iterator[Any]:
    """The compiled loops alone: matches whose IoU lies at the thresholds, and what follows from them."""
    place = np.arange(48)
    truth = np.stack([40.0 * (place % 4), np.zeros(48), np.full(48, 8.0), 6.0 + place % 3], axis=1)
    shift = np.stack([place % 5 / 3, np.zeros(48), np.zeros(48), np.zeros(48)], axis=1)
    image, label = place // 4, place % 2
    found = objects.prepare(
        images=12, classes=2, truth_image=image, truth_class=label, truth_box=truth, prediction_image=image,
        prediction_class=label, prediction_box=truth + shift, score=np.round(0.3 + 0.1 * (place % 6), 1),
    )  # fmt: skip
    matches = matching.match(found)
    yield matches.pairs.iou, matches.matched, matches.state
    yield precision_recall.precision_at_recalls(precision_recall.Ranking.of(found, matches), 0, 100)


def of_run(run: Run) -> Iterator[Any]:
    board = analysis.leaderboard(run)
    yield run.aggregates, board.cells, board.ranks, analysis.headline(board), analysis.insights(run)


def of_matches(workspace: Workspace) -> Iterator[Any]:
    """Preferences in which one model is on paper exactly as strong as the average, with an error of 0."""
    run = compared_run(workspace, 12)
    for index in range(12):
        for one, other in combinations(MODELS, 2):
            vote(run, index, one, other, float(index % 4 == 0), shown_first=one)
            judgement(run, index, one, other, 1.0, 0.5 * (index % 3))
    for source in ("people", "judge"):
        found = preferred(run, source, "quality")
        yield found, None if found is None else more_matches(found)
        yield position_bias(run, source, "quality")
    yield judge_and_people(run, "quality")


def of_formulas(_: Workspace) -> Iterator[Any]:
    rng = np.random.default_rng(7)
    right = (rng.random((40, 8)) < np.linspace(0.2, 0.9, 8)).astype(np.float64)
    right[:, 5] = right[::-1, 4]
    fitted = two_parameter(right)
    yield fitted, by_information(fitted, 20), cross_fitted(right, right, None, fitted)
    tenths = np.round(rng.random(60), 1)
    ratings = np.column_stack([tenths, np.roll(tenths, 1), np.where(tenths > 0.5, np.nan, 0.1 * 3)])
    draws = draws_of(np.arange(60) // 2, resamples=200)
    yield alphas(ratings, draws, "interval"), alphas(ratings, draws, "ordinal"), fleiss_kappas(ratings, draws)
    yield spearmans(ratings[:, 0], ratings[:, 1], draws)
    yield kappas(rng.integers(0, 9, (20, 3, 3)).astype(np.float64), quadratic=True)
    yield corrected_mean(tenths, np.where(np.arange(60) % 3, np.nan, tenths > 0.4), clusters=np.arange(60) // 2)
    yield resampled_components(tenths, np.arange(60) // 6, np.arange(60) // 2, np.arange(60) // 12)
    yield pooled(tenths[:12], np.full(12, 0.01)), first_shares(right[:5]), turning_point(right[:3], np.full(3, 1 / 3))
    equal = np.full((3, 3), 0.001) + np.diag([0.002, 0.001, 0.002])
    yield pooled_means(
        [Study(np.arange(3), np.array(means), equal, 9.0) for means in ((0.3, 0.1 + 0.2, 0.4), (0.5, 0.5, 0.6))], 3
    )
    values, facets, clusters = noise("clustered", 3, 400, 4)
    searched = slice_search.search(values, facets, clusters=clusters, draws=199)
    yield searched.p, slice_search.distinct(searched, values, None, 1.0)


SCENES: dict[str, Callable[[Workspace], Iterator[Any]]] = {
    "texts": of_texts, "others": of_others, "loops": of_loops, "matches": of_matches, "formulas": of_formulas,
}  # fmt: skip


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each number, word and verdict of a result with its path in it."""
    if isinstance(value, pd.DataFrame):
        value = value.to_dict("list")
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from flat(one, f"{path}/{key}")
    elif isinstance(value, list | tuple):
        for place, one in enumerate(value):
            yield from flat(one, f"{path}/{place}")
    else:
        number = isinstance(value, float | np.floating)
        yield path, float(value) if number else value if isinstance(value, int | str | None) else str(value)


if __name__ == "__main__":
    said = {}
    for name in sys.argv[1:]:
        said |= dict(flat([*SCENES[name](Workspace(os.environ["ASSAY_WORKSPACE"]))], name))
    kernel = next(one["architecture"] for one in threadpool_info() if one["internal_api"] == "openblas")
    json.dump({"kernel": kernel, "said": said}, sys.stdout)
