"""The scores of a metric beside people's labels, output by output."""

from dataclasses import dataclass, replace

import numpy as np

from metrics.analysis.comparison.case_values import values_by_model
from metrics.analysis.labels.human_labels import HumanLabels, human_labels
from metrics.analysis.labels.judgements import judged_evaluators
from metrics.analysis.leaderboard.distributions import metrics_by_case
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.sampling_design import cluster_codes
from metrics.stats.float_tolerance import ratio
from metrics.store import Run


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """The outputs that have both a score and a label: arrays [n].

    sign · score and good · label: higher is better; label: the mean of the output's labels; passed: whether one of its
    raters, drawn at random, passes it; place: index of the output, see HumanLabels; model: its index; clusters: codes
    of its case, or of the case's group; random: whether it belongs to a random sample of its model's outputs; weight:
    how many of the model's outputs it then stands for, else 1; rater: index of the rater who was drawn, None: all the
    same.
    """

    column: Column
    sign: int
    good: int
    score: Floats
    label: Floats
    passed: Bools
    place: Ints
    model: Ints
    clusters: Ints
    random: Bools
    weight: Floats
    rater: Ints | None = None

    @property
    def counted(self) -> Ints:
        """Return the indices of the labelled outputs that represent the others: the random ones, or all if none is."""
        return np.flatnonzero(self.random if self.random.any() else np.ones(len(self.score), bool))

    def part(self, keep: Bools | Ints) -> "LabelledScores":
        """Return only some of the outputs."""
        names = ("score", "label", "passed", "place", "model", "random", "weight")
        arrays = {name: getattr(self, name)[keep] for name in names}
        rater = None if self.rater is None else self.rater[keep]
        return replace(self, **arrays, clusters=cluster_codes(self.clusters[keep]), rater=rater)


def metric_columns(run: Run) -> dict[tuple[str, str], Column]:
    """Return the metrics of a run that have values per case, by (evaluator, metric); judged ones first."""
    known, judged = metrics_by_case(run), judged_evaluators(run)
    found: dict[tuple[str, str], Column] = {}
    for column in sorted(leaderboard(run).columns, key=lambda column: column.evaluator not in judged):
        if (column.evaluator, column.metric) in known:
            found.setdefault((column.evaluator, column.metric), column)
    return found


def labelled_scores(
    run: Run,
    evaluator: str,
    metric: str,
    criterion: str,
    model: str | None = None,
    tag: str | None = None,
    passing: float | None = None,
    unsure: bool = False,
) -> LabelledScores:
    """Return the outputs with both a score in a metric and a label, of all models or one, all cases or one tag's.

    Grades from `passing` on pass, by default those above the middle of their scale. A higher grade is better, unless
    the criterion has the name of a metric where lower is better. unsure: a rater who is unsure does not pass the
    output, for what must not promise too much; else such a label is none. Raises KeyError for an unknown metric or
    criterion.
    """
    column = metric_columns(run)[evaluator, metric]
    people = human_labels(run, criterion)
    sign = -1 if column.direction == "lower" else 1
    score, label, good = output_scores(run, column), people.draw_labels(unsure), label_sign(people, column)
    of_model = np.arange(len(score)) // run.spec.suite.cases
    both = ~np.isnan(score) & (people.has_answer if unsure else ~np.isnan(label))
    random = people.random & both
    scored, drawn = (np.bincount(of_model, part, len(run.models)) for part in (~np.isnan(score), random))
    weight = np.where(random, ratio(scored, drawn, 1.0)[of_model], 1.0)
    place = np.flatnonzero(both & outputs_of(run, model, tag))
    passed = passing_labels(people, column, label, passing)
    shown, drawn_as = (score[place], people.means[place], passed[place]), (random[place], weight[place])
    clusters, rater = output_clusters(run, place), people.drawn_raters(unsure)[place]
    return LabelledScores(column, sign, good, *shown, place, of_model[place], clusters, *drawn_as, rater)


def passing_labels(people: HumanLabels, column: Column, labels: Floats, passing: float | None = None) -> Bools:
    """Return which labels pass: from the grade `passing` on, by default above the middle of their scale; NaN do not."""
    good = label_sign(people, column)
    return good * labels > good * people.criterion.middle if passing is None else good * labels >= good * passing


def label_sign(people: HumanLabels, column: Column) -> int:
    """Return 1 where a higher label is better, else −1: grades named like a metric where lower is better."""
    graded_alike = people.criterion.graded and people.criterion.name == column.metric
    return -1 if graded_alike and column.direction == "lower" else 1


def output_scores(run: Run, column: Column) -> Floats:
    """Return every output's score in a metric (see HumanLabels), NaN where there is none; repeats averaged."""
    design, key = run.sampling_design(), (column.evaluator, column.metric)
    found = [values.get(key) for _, values in values_by_model(run, run.models, design, [key])]
    return np.concatenate([np.full(len(design), np.nan) if one is None else one.values for one in found])


def outputs_of(run: Run, model: str | None = None, tag: str | None = None) -> Bools:
    """Return whether each output is of a model and of a case with a tag; of any model or case where it is None."""
    inside = np.zeros(run.spec.suite.cases, bool)
    inside[run.sampling_design(tag).inside] = True
    return (np.array([model in (None, name) for name in run.models])[:, None] & inside).ravel()


def output_clusters(run: Run, places: Ints) -> Ints:
    """Return the cluster of each output: its case, or the case's group where the suite has groups."""
    size = run.spec.suite.cases
    return cluster_codes(run.sampling_design().units[places % size])
