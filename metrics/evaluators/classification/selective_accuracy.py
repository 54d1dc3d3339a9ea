"""selective_accuracy: how often a model is right if it answers only when it is sure."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Bools, Floats
from metrics.core.evaluator import Aggregate, CaseScore, Example, Findings, Metric, Status
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import LEAST, ResamplingParameters, aggregate, count_rarer
from metrics.evaluators.classification._examples import classification_evaluator, scored_cases
from metrics.evaluators.classification._score_matrix import read_scores
from metrics.evaluators.classification.classification import top_predictions
from metrics.stats.bootstrap import Draws
from metrics.stats.classification import selective
from metrics.stats.float_tolerance import weighted_mean
from metrics.stats.intervals import wilson
from metrics.stats.resample_intervals import resample_interval

CURVES = pa.schema(
    [
        ("threshold", pa.float64()),
        ("coverage", pa.float64()),
        ("risk", pa.float64()),
        ("answered", pa.int64()),
        ("low", pa.float64()),  # Wilson's 95 % interval of the risk
        ("high", pa.float64()),
    ]
)
POINTS = 1_000
SURE_MISTAKES = "sure_mistakes"
SURE = scored_cases(*((("a", {"a": 0.9}),) * 40))
TIED = scored_cases(("a", {"a": 0.5}), ("b", {"a": 0.5}))
RANKED = scored_cases(("a", {"a": 0.9}), ("b", {"a": 0.8}), ("a", {"a": 0.7}))
FEW = (
    f"No 95 % interval and no rank: fewer than {LEAST:g} predictions are right, or fewer are wrong; what is that rare "
    "does not show how far the area varies."
)
DEPENDENT = "the guarantee is for cases drawn one by one that weigh alike; these are in groups, or have weights"


class SelectiveParameters(ResamplingParameters):
    """What is guaranteed of the answers that are given."""

    most_errors: float = Field(
        0.05, gt=0, lt=1, description="The share of the answers given that may be wrong at the guaranteed threshold."
    )
    sureness: float = Field(0.95, gt=0, lt=1, description="The chance with which the guarantee holds.")


@classification_evaluator(
    stand="last",
    default_needs=("scored_predictions",),
    metrics=(
        Metric.lower(
            "risk_area",
            "Mean share of wrong answers over all coverages, the surest cases answered first: the area under the "
            "risk–coverage curve (AURC).",
            primary=True,
            threshold=None,
        ),
        Metric.detail(
            "guaranteed_coverage",
            "Share of the cases that are answered at the lowest score threshold whose answers are wrong in at most "
            "`most_errors` of cases, with a chance of `sureness`.",
        ),
        Metric.neutral("guaranteed_threshold", "That threshold: answer from this score on.", minor=True),
        Metric.lower(
            SURE_MISTAKES,
            "Score of the predicted label where it is wrong, 0 where it is right; the mean over the cases.",
            threshold=None,
            minor=True,
        ),
    ),
    sources=(
        "Geifman, Uziel & El-Yaniv 2019: Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers (AURC)",
        "Angelopoulos, Bates, Candès, Jordan & Lei 2021: Learn then Test",
    ),
    standards=("valid and reliable", "safe"),
    differs_from_source="The area is an integral over the coverage, not a sum over cases: twice the same cases have "
    "the same one, and so have equal scores in any order; it differs by some 1/n. The thresholds tested are the scores "
    "at 100 even coverages, from up to five starts.",
    examples=(
        Example(
            "one of three is wrong, the second in order",
            RANKED,
            rows=(
                {"metric": "risk_area", "value": (1 - math.log(2) + math.log(3 / 2)) / 3, "n": 3},
                {"metric": "guaranteed_coverage", "value": None, "n": 3},
                {"metric": "sure_mistakes", "value": 0.8 / 3, "n": 3},
            ),
        ),
        Example(
            "equal scores in random order: one of two is wrong, so the risk is 1/2 throughout",
            TIED,
            rows=({"metric": "risk_area", "value": 0.5, "n": 2},),
        ),
        Example(
            "forty right answers show that at most one in five is wrong",
            SURE,
            rows=(
                {"metric": "guaranteed_coverage", "value": 1.0, "n": 40},
                {"metric": "guaranteed_threshold", "value": 0.9, "n": 40},
            ),
            parameters={"most_errors": 0.2},
        ),
    ),
)
def selective_accuracy(suite: Suite, outputs: Outputs, parameters: SelectiveParameters) -> Findings:
    """How often a model is right if it answers only when it is sure: risk over coverage, and a threshold that holds.

    The confidence of a case is the score of its highest-scored label, the first in the file where several tie. The
    surest k of n cases are answered, coverage k/n, and the risk is the share of them that is wrong:

        risk area = ∫ risk dcoverage, from 0 to 1

    0 … 1, lower is better: a model whose mistakes are its least sure answers has a small one, one whose scores say
    nothing the error rate. Of equal scores a random part is answered first.

    The guaranteed threshold is the lowest score from which on answers are wrong in at most `most_errors` of cases, with
    a chance of `sureness` over data sets such as this one: its mistakes are tested against the binomial distribution,
    in sequences from few answers to many. The guarantee is for new cases drawn as these are: not for other sources, nor
    for cases in groups. No value where these cases show it of no threshold; it takes log(1 − sureness) / log(1 −
    most_errors) cases answered right at the least, 59 with the defaults.

    The score of a case is that of its label where this is wrong, else 0: the worst cases are the surest mistakes. It
    has no value where scores are not within 0 … 1, such as logits, which only rank the cases.
    Cases without a true label or without scores are unscored. Curve: threshold, coverage, risk with Wilson's 95 %
    interval, answered. Intervals of the area and the paired test of two models: resamples of the cases (of the groups
    where `cases.group` is given); with fewer than 5 right or 5 wrong predictions there is neither.
    """
    found = read_scores(suite, outputs)
    best, _ = top_predictions(suite.cases["case_id"], outputs.predictions)
    top = pc.index_in(best, pa.array(found.labels, pa.string())).take(pa.array(found.place))
    code = top.to_numpy(zero_copy_only=False).astype(np.int64)
    confidence: Floats = found.scores[np.arange(len(code)), code]
    wrong: Bools = code != found.truth
    draws = parameters.draws(suite).of_cases(found.place)
    n, unscored = len(code), sum(found.unscored_labels.values())
    curve = selective.risk_coverage(confidence, wrong)
    shown = selective.guaranteed(curve, parameters.most_errors, parameters.sureness) if draws.single else None
    why = None if shown else _say_unshown(curve, parameters, found.nothing) if draws.single else DEPENDENT
    sure: Floats = np.where(wrong, confidence, 0.0) if found.no_probabilities is None else np.full(n, np.nan)
    rows = [
        _area(confidence, wrong, draws, unscored, found.nothing),
        *_of_threshold(shown, n, unscored, why),
        aggregate(SURE_MISTAKES, weighted_mean(sure, draws.weights), n=n, unscored=unscored,
                  reason=found.no_probabilities if n else found.nothing),
    ]  # fmt: skip
    cases = found.scores_of((SURE_MISTAKES,))
    for case_id, true, guess, score, value in zip(
        found.case_ids, found.truth.tolist(), code.tolist(), confidence.tolist(), sure.tolist(), strict=True
    ):
        facts = {"truth": found.labels[true], "predicted": found.labels[guess], "score": score}
        own = None if math.isnan(value) else value
        status = Status.NOT_APPLICABLE if own is None else Status.OK
        cases[case_id] = CaseScore({SURE_MISTAKES: own}, status, found.no_probabilities, Evidence(facts=facts))
    return Findings(rows, cases, _points(curve))


def _area(confidence: Floats, wrong: Bools, draws: Draws, unscored: int, nothing: str) -> Aggregate:
    n = len(wrong)
    if not n:
        return aggregate("risk_area", math.nan, n=0, unscored=unscored, reason=nothing)
    value, *samples = selective.risk_areas(confidence, wrong, draws).tolist()
    if draws.units < 2 or not samples or count_rarer(wrong, draws) < LEAST:
        why = FEW if draws.units > 1 and samples else None
        return aggregate("risk_area", value, n=n, unscored=unscored, reason=why)
    low, high = resample_interval(np.array(value), np.array(samples), math.inf, draws.units, bias=0.0)
    ends = float(low), float(high)
    return aggregate("risk_area", value, ends, "bootstrap", n=n, unscored=unscored, samples=np.array(samples))


def _say_unshown(curve: selective.RiskCoverage, parameters: SelectiveParameters, nothing: str) -> str:
    """Return why no threshold is guaranteed, and how many more cases may do."""
    if not len(curve.answered):
        return nothing
    most, sure = f"{100 * parameters.most_errors:g} %", f"{100 * parameters.sureness:g} %"
    more = selective.cases_missing(curve, parameters.most_errors, parameters.sureness)
    unshown = f"these cases show no threshold with at most {most} wrong answers ({sure} sure)"
    if more is None:
        return unshown
    few = curve.answered[-1] < selective.fewest_answers(parameters.most_errors, parameters.sureness)
    return f"{unshown}: " + (f"too few, at least {more:,} more needed" if few else f"some {more:,} more may")


def _of_threshold(shown: selective.Guarantee | None, n: int, unscored: int, why: str | None) -> list[Aggregate]:
    if shown is None:
        return [
            aggregate(metric, math.nan, n=n, unscored=unscored, reason=why)
            for metric in ("guaranteed_coverage", "guaranteed_threshold")
        ]
    ends = wilson(shown.answered, n)
    return [
        aggregate("guaranteed_coverage", shown.coverage, ends, "wilson", n=n, unscored=unscored),
        aggregate("guaranteed_threshold", shown.threshold, n=n, unscored=unscored),
    ]


def _points(curve: selective.RiskCoverage) -> pa.Table:
    count = len(curve.threshold)
    kept = np.unique(np.linspace(0, count - 1, min(POINTS, count)).astype(int)) if count else np.zeros(0, int)
    pairs = zip(curve.wrong[kept].tolist(), curve.answered[kept].tolist(), strict=True)
    bounds = [wilson(wrong, answered) for wrong, answered in pairs]
    columns = [
        curve.threshold[kept], curve.coverage[kept], curve.risk[kept], curve.answered[kept],
        *([bound[end] for bound in bounds] for end in (0, 1)),
    ]  # fmt: skip
    return pa.table([pa.array(column) for column in columns], schema=CURVES)
