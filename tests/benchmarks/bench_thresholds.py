"""How well embedding metrics tell good from bad, and the thresholds of the bundled model.

    python -m tests.benchmarks.bench_thresholds [--store] [--only EVALUATOR] [--variants] [--cache DIR]

Each metric scores sets of labelled cases (tests/benchmarks/threshold_sets.py). Half of the clusters (passages,
questions, conversations) set the threshold: the highest balanced accuracy, averaged over the sets. The other half
measures it: AUC and balanced accuracy with 95 % intervals (1,000 resamples of clusters), of each set and their mean. A
metric whose mean AUC is below .6, or whose interval includes .5, gets no threshold. --store writes the table that comes
with Assay, metrics/calibrations/calibrations.json, and --variants compares the definitions of groundedness on the first
half. Sets of ../shared are skipped without it, and then --store is refused. Five minutes on one core.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from metrics.calibrations.calibrated_thresholds import TABLE, shipped
from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.calibration import Calibration, separates
from metrics.core.evaluator import JUDGE, CaseScore, Evaluator
from metrics.core.registry import evaluators
from metrics.core.sampling_design import cluster_codes
from metrics.core.suite import Outputs, Suite
from metrics.judge.local.completer import EVEN
from metrics.models import provide
from metrics.models.embedder import BUNDLED_WEIGHTS
from metrics.stats.intervals import percentiles
from metrics.stats.rater_agreement import aucs, best_thresholds, draws_of
from tests.benchmarks import threshold_sets as sets
from tests.benchmarks.threshold_sets import Item, LabelledSet

QA = [
    LabelledSet("QA, long wrong answers", "bare right answers", sets.qa("right", "wrong_sentence")),
    LabelledSet("QA, bare answers", "right", sets.qa("right", "wrong")),
    LabelledSet("QA, whole sentences", "right", sets.qa("right_sentence", "wrong_sentence")),
]
BEGIN = [LabelledSet(f"BEGIN {part}", "fully attributable", sets.begin(part)) for part in ("cmu", "wow")]
FAITHFUL = LabelledSet("MT-RAG", "faithfulness ≥ 3.5 of 4", sets.mtrag("faithfulness", reference=True))
FITTING = LabelledSet("MT-RAG", "appropriateness ≥ 3.5 of 4", sets.mtrag("appropriateness", reference=True))
COMPLETE = LabelledSet("MT-RAG", "completeness ≥ 3.5 of 4", sets.mtrag("completeness", reference=False))
GOLD = LabelledSet("CLAP NQ", "the question's own passage", sets.passages_of_questions)
ANSWERING = LabelledSet("CLAP NQ, unanswerable", "the passage answers", sets.unanswerable_passages)
RANKED = LabelledSet("CLAP NQ, eight passages", "the gold one is first", sets.ranked_passages)
OWN_ANSWER = LabelledSet("CLAP NQ", "the question's own answer", sets.answers_of_questions)
TWO = LabelledSet("CLAP NQ", "answers to one question", sets.two_annotators)
STEPS = LabelledSet("step pairs", "the same step", sets.same_steps)


class Asked(NamedTuple):
    """What is calibrated: a metric, or the parameter `cutoff` on the scores of a `metric`; `also` only measured."""

    evaluator: str
    metric: str
    sets: Sequence[LabelledSet]
    also: Sequence[LabelledSet] = ()
    scored_by: tuple[str, str] | None = None


LIKENESS = ("answer_semantic_similarity", "answer_semantic_similarity")  # the cosine of two texts
CLOSEST = ("context_relevancy_soft", "recall")  # the highest cosine of a sentence to the question
ASKED = (
    Asked("step_alignment", "same_step", [STEPS], scored_by=LIKENESS),
    Asked(*CLOSEST, [GOLD, ANSWERING]),
    Asked("context_relevancy_soft", "precision", [GOLD, ANSWERING]),
    Asked("context_mrr", "mrr_relevant_chunk_threshold", [GOLD, ANSWERING], scored_by=CLOSEST),
    Asked("context_mrr", "context_mrr", [RANKED]),
    Asked("answer_relevancy_sentence", "answer_relevancy_sentence", [OWN_ANSWER], [FITTING]),
    Asked("answer_semantic_similarity", "answer_semantic_similarity", [TWO, COMPLETE, *QA[:2]]),
    Asked("answer_semantic_sentence_similarity", "mean_similarity", [TWO, COMPLETE, *QA[:2]]),
    Asked("answer_semantic_sentence_similarity", "min_similarity", [TWO, COMPLETE, *QA[:2]]),
    Asked("consistency_bertscore", "consistency_bertscore", [TWO]),
    Asked("groundedness", "groundedness", [*QA, *BEGIN, FAITHFUL]),
)
VARIANTS = (
    {"bare_words": 0, "new_words": 0}, {"bare_words": 3, "new_words": 0}, {"bare_words": 5, "new_words": 0},
    {"bare_words": 8, "new_words": 0}, {"bare_words": 0, "new_words": 1}, {"bare_words": 5, "new_words": 0.5},
    {"bare_words": 5, "new_words": 1}, {"bare_words": 8, "new_words": 1},
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scored:
    """One set's scores: arrays [n]; `fit` are the items that may set a threshold, the others measure it.

    `data` names the set, `meaning` says which of its items are good.
    """

    data: str
    meaning: str
    score: Floats
    good: Bools
    clusters: Ints
    fit: Bools

    def part(self, fit: bool) -> "Scored":
        """The half that sets thresholds, or the half that measures."""
        keep = self.fit == fit
        kept = {"score": self.score[keep], "good": self.good[keep], "fit": self.fit[keep]}
        return replace(self, **kept, clusters=cluster_codes(self.clusters[keep]))


class Figures(NamedTuple):
    """AUC and balanced accuracy with their intervals; `draws` are their resamples."""

    auc: tuple[float, float, float]
    balanced: tuple[float, float, float]
    n: int
    passed: int


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--only", metavar="EVALUATOR")
    parser.add_argument("--variants", action="store_true")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where vectors are kept for the next time")
    options = parser.parse_args()
    if not sets.SHARED.is_dir():
        sys.exit("skipped: needs ../shared/data")
    with tempfile.TemporaryDirectory() as folder:
        resources = provide(["embedder", "token_encoder"], {}, options.cache or Path(folder))
        if options.variants:
            variants(resources)
            return
        head = f"{'evaluator.metric':<58}{'labels':<26}{'n':>5}{'good':>6}   AUC                 balanced accuracy"
        print(f"{head}   threshold")
        found: list[Calibration] = []
        for asked in ASKED:
            if options.only in (None, asked.evaluator):
                found.append(calibrated(asked, resources, found))
    if options.store and options.only is None:
        store(found)


def variants(resources: Mapping[str, Any]) -> None:
    """Print the AUC of groundedness by definition on the half that sets thresholds."""
    groups = [*QA, *BEGIN, FAITHFUL]
    print(f"{'':<36}{'mean':>7}", *(f"{one.name:>24}" for one in groups))
    for given in VARIANTS:
        halves = [scored(one, ("groundedness", "groundedness"), given, resources).part(fit=True) for one in groups]
        areas = [float(aucs(one.score, one.good, np.ones((1, len(one.score))))[0]) for one in halves]
        print(f"{given!s:<36}{np.mean(areas):>7.3f}", *(f"{area:>24.3f}" for area in areas))


def calibrated(asked: Asked, resources: Mapping[str, Any], before: Iterable[Calibration]) -> Calibration:
    """Measure one metric, print its figures, and return its calibration."""
    entry = evaluators()[asked.evaluator]
    names = entry.parameters.model_fields
    own = {one.metric: one.threshold for one in before if one.evaluator == entry.id and one.metric in names}
    kind = asked.scored_by or (asked.evaluator, asked.metric)
    given = {} if asked.scored_by else own
    every = [scored(one, kind, given, resources) for one in (*asked.sets, *asked.also)]
    models = {entry.local_models(entry.parameters())[0]: BUNDLED_WEIGHTS}
    return calibration(entry, asked.metric, models, every[: len(asked.sets)], every[len(asked.sets) :])


def calibration(
    entry: Evaluator,
    metric: str,
    models: Mapping[str, str],
    used: Sequence[Scored],
    also: Sequence[Scored] = (),
    *,
    cuts: bool = True,
    fixed: float | None = None,
) -> Calibration:
    """Set the threshold of a metric on the first halves of sets, measure it on the others, print and return both.

    The sets in `also` are measured only; without `cuts` the others are, too, and items from .5 on count as called good.
    fixed: the threshold, instead of one that the first halves set.
    """
    cut = fixed if fixed is not None else best_cut([one.part(fit=True) for one in used]) if cuts else EVEN
    measured = [figures([one.part(fit=False)], cut) for one in (*used, *also)]
    mean = figures([one.part(fit=False) for one in used], cut)
    good = cuts and separates(mean.auc[0], mean.auc[1])
    name = f"{entry.id}.{metric}"
    for one, each in zip((*used, *also), measured, strict=True):
        show(name, one.data, each, "")
    show(name, "mean" if len(used) > 1 else "in all", mean, f"{cut:.3f}" if good else "none")
    return Calibration(
        evaluator=entry.id, version=entry.version, metric=metric, models=models,
        threshold=round(cut, 3) if good else None,
        n=mean.n, passed=mean.passed,
        data="; ".join(f"{one.data} ({one.meaning})" for one in used),
        auc=mean.auc[0], auc_low=mean.auc[1], auc_high=mean.auc[2],
        balanced=mean.balanced[0], balanced_low=mean.balanced[1], balanced_high=mean.balanced[2],
        procedure="highest balanced accuracy on half of the clusters, figures of the other half"
        if cuts and fixed is None else "balanced accuracy of a threshold set beforehand",
        sets=[
            {
                "data": one.data, "good": one.meaning, "sets_the_threshold": cuts and place < len(used),
                "n": each.n, "passed": each.passed, "auc": each.auc[0], "auc_low": each.auc[1], "auc_high": each.auc[2],
                "balanced": each.balanced[0], "balanced_low": each.balanced[1], "balanced_high": each.balanced[2],
            }
            for place, (one, each) in enumerate(zip((*used, *also), measured, strict=True))
        ],
    )  # fmt: skip


def store(found: Sequence[Calibration]) -> None:
    """Write calibrations into the table that comes with Assay, in place of those of judges, or of those of no judge."""
    judged = JUDGE in found[0].models
    records = [one.record() for one in (*(one for one in shipped() if (JUDGE in one.models) != judged), *found)]
    TABLE.write_text(json.dumps(records, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def scored(about: LabelledSet, kind: tuple[str, str], given: Mapping[str, Any], resources: Mapping[str, Any]) -> Scored:
    """Return the scores of a set by a metric, without the items that it cannot score."""
    name, metric = kind
    entry = evaluators()[name]
    items = list(about.read())
    values = [score.values.get(metric) for score in case_scores(entry, items, given, resources)]
    kept = [(item, value) for item, value in zip(items, values, strict=True) if value is not None]
    names = {cluster: code for code, cluster in enumerate(dict.fromkeys(item.cluster for item, _ in kept))}
    half = [sha256(item.cluster.encode()).digest()[0] % 2 == 0 for item, _ in kept]
    return Scored(
        about.name, about.about,
        np.array([value for _, value in kept], float), np.array([item.good for item, _ in kept]),
        np.array([names[item.cluster] for item, _ in kept]), np.array(half),
    )  # fmt: skip


def case_scores(
    entry: Evaluator, items: Sequence[Item], given: Mapping[str, Any], resources: Mapping[str, Any]
) -> Sequence[CaseScore]:
    """Return each item's score; a pair of answers counts as two runs where the evaluator compares repeats."""
    parameters = entry.parameters.model_validate(dict(given))
    own = {name: resources[name] for name in entry.local_models(parameters)}
    if entry.shape == "batch":
        return entry([item.case for item in items], parameters, **own)
    cases = [{"case_id": str(place)} for place in range(len(items))]
    rows = [
        {"case_id": str(place), "model": "m", "run": run, "answer": text}
        for place, item in enumerate(items)
        for run, text in enumerate((item.case.answer, item.case.expected_answers[0]))
    ]
    findings = entry(Suite.from_rows("pairs", "text", cases), Outputs.from_rows(rows), parameters, **own)
    return [findings.cases[str(place)] for place in range(len(items))]


def best_cut(halves: Sequence[Scored]) -> float:
    """Return the threshold with the highest balanced accuracy, averaged over the sets: every set weighs the same."""
    score = np.concatenate([one.score for one in halves])
    good = np.concatenate([one.good for one in halves])
    weights = np.concatenate([np.where(one.good, 1 / one.good.sum(), 1 / (~one.good).sum()) for one in halves])
    best, _ = best_thresholds(score, good, weights[None, :])
    return float(best[0])


def figures(parts: Sequence[Scored], cut: float) -> Figures:
    """Return the figures of one set, or the mean of several sets."""
    areas, rates = [], []
    for seed, one in enumerate(parts):
        draws = draws_of(one.clusters, seed)
        areas.append(aucs(one.score, one.good, draws))
        right = (one.score >= cut) == one.good
        with np.errstate(invalid="ignore"):
            kinds = [
                (draws[:, kind] * right[kind]).sum(axis=1) / draws[:, kind].sum(axis=1)
                for kind in (one.good, ~one.good)
            ]
        rates.append(np.mean(kinds, axis=0))
    sizes = sum(len(one.score) for one in parts), sum(int(one.good.sum()) for one in parts)
    return Figures(_with_interval(np.mean(areas, axis=0)), _with_interval(np.mean(rates, axis=0)), *sizes)


def _with_interval(estimates: Floats) -> tuple[float, float, float]:
    low, high = percentiles(estimates[1:])
    return tuple(round(float(value), 4) for value in (estimates[0], low, high))  # type: ignore[return-value]


def show(name: str, labels: str, found: Figures, threshold: str) -> None:
    numbers = (f"{value:.3f} [{low:.3f}, {high:.3f}]" for value, low, high in (found.auc, found.balanced))
    print(f"{name:<58}{labels:<26}{found.n:>5}{found.passed:>6}   {'   '.join(numbers)}   {threshold}", flush=True)


if __name__ == "__main__":
    main()
