"""Simulated judges and the people they are held against: superpopulations of which the true mean is known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.stats.judge_correction import Estimate, corrected_difference, corrected_mean, draw_chances, draw_sizes

Floats = NDArray[np.float64]
SIZE = 1_000
CLUSTER = 4


@dataclass(frozen=True)
class Judge:
    """A way to draw things: what people say (a share, or grades 0 … 1), what the judge says, and the true mean.

    `skill` is how much the judge knows of what people say (0: nothing), `kindness` what it adds whatever they say.
    """

    name: str
    share: float = 0.7
    skill: float = 0.8
    kindness: float = 0.15
    graded: bool = False
    binary_judge: bool = False
    clustered: bool = False

    @property
    def mean(self) -> float:
        """What people would say of all things that could be drawn, on average."""
        return self.share

    def draw(self, rng: np.random.Generator, size: int = SIZE) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """The judge's scores, people's labels, and the clusters of `size` things."""
        clusters = np.arange(size) // (CLUSTER if self.clustered else 1)
        quality = np.clip(rng.beta(8 * self.share, 8 * (1 - self.share), size), 0, 1)
        if self.clustered:  # things of one cluster are alike
            quality = rng.beta(3 * self.share, 3 * (1 - self.share), clusters.max() + 1)[clusters]
        labels = (
            np.round(quality * 4 + rng.uniform(-0.5, 0.5, size)) / 4
            if self.graded
            else (rng.random(size) < quality).astype(np.float64)
        )
        noise = rng.random(size) if self.binary_judge else rng.beta(2, 2, size)
        scores = self.kindness + (1 - self.kindness) * (self.skill * labels + (1 - self.skill) * noise)
        if self.binary_judge:
            scores = np.where(rng.random(size) < self.skill, labels, rng.random(size) < 0.5 + self.kindness)
        return np.clip(scores, 0, 1), labels, clusters.astype(np.int64)


JUDGES = (
    Judge("biased"), Judge("weak", skill=0.3), Judge("noise", skill=0.0), Judge("yes or no", binary_judge=True),
    Judge("rarely wrong", share=0.9, skill=0.9, binary_judge=True), Judge("grades", graded=True, share=0.6),
    Judge("conversations", clustered=True), Judge("graded conversations", clustered=True, graded=True, share=0.6),
)  # fmt: skip


UNLABELLED = (0.05, 0.3, 0.9)  # shares of the outputs
RARELY_WRONG = Judge("rarely wrong", share=0.9, skill=0.9, binary_judge=True)
DESIGNS = [  # judge, labels, outputs: few and many labels, few and most outputs unlabelled, a rare failure
    (judge, labelled, max(labelled + 1, round(labelled / (1 - share))))
    for labelled in (10, 20, 40, 100, 300) for share in UNLABELLED
    for judge in (Judge("noise", skill=0.0), Judge("biased"), RARELY_WRONG)
]  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """Many draws of one judge: `bias` and `error` (RMSE) of the corrected mean, coverage and width of both intervals.

    worse, worse_here: by how many standard errors the squared error is larger than that of the labels alone, against
    the true mean and against what people say of all things drawn.
    """

    bias: float
    noise: float
    covered: float
    covered_alone: float
    width: float
    width_alone: float
    error: float
    error_alone: float
    worse: float
    worse_here: float


def simulate(judge: Judge, labelled: int, repeats: int, seed: int = 0, size: int = SIZE) -> Outcome:
    """Draw `repeats` data sets, of each label `labelled` things (whole clusters) at random, and correct the mean."""
    rng = np.random.default_rng([seed, labelled])
    found: list[tuple[Estimate, Estimate]] = []
    here = []
    for _ in range(repeats):
        scores, labels, clusters = judge.draw(rng, size)
        own = judge.clustered
        units = rng.permutation(clusters.max() + 1)[: labelled // (CLUSTER if own else 1)]
        known = np.where(np.isin(clusters, units), labels, np.nan)
        both, alone = (
            corrected_mean(scores, known, clusters=clusters if own else None, power=power) for power in (True, False)
        )
        assert both is not None
        assert alone is not None
        found.append((both, alone))
        here.append(labels.mean())
    values, alone_values = (np.array([pair[place].value for pair in found]) for place in (0, 1))
    bounds = np.array([(one.low, one.high) for pair in found for one in pair], np.float64).reshape(-1, 2, 2)
    inside = (bounds[:, :, 0] <= judge.mean) & (judge.mean <= bounds[:, :, 1])
    width = (bounds[:, :, 1] - bounds[:, :, 0]).mean(axis=0)
    errors = [[(own - truth) ** 2 for own in (values, alone_values)] for truth in (judge.mean, np.array(here))]
    worse = [(own - other).mean() / max((own - other).std() / np.sqrt(repeats), 1e-12) for own, other in errors]
    return Outcome(
        float(values.mean() - judge.mean), float(values.std() / np.sqrt(repeats)), float(inside[:, 0].mean()),
        float(inside[:, 1].mean()), float(width[0]), float(width[1]),
        float(np.sqrt(errors[0][0].mean())), float(np.sqrt(errors[0][1].mean())), float(worse[0]), float(worse[1]),
    )  # fmt: skip


@dataclass(frozen=True)
class Scored:
    """Outputs with scores of beta(*shape) whose chance to pass is the score, .7 (useless) or wrong far from ½.

    confident: the scores are chances, most of them near 0 or 1.
    """

    name: str
    shape: tuple[float, float]
    confident: bool = False

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        """Return scores and labels."""
        score = rng.beta(*self.shape, size)
        chance = {"useless": np.full(size, 0.7), "misplaced": np.where(score > 0.5, 0.75, 0.25)}.get(self.name, score)
        near = (np.abs(score - 0.5) < 0.15) & (self.name == "misplaced")
        chance = np.where(near, np.where(score > 0.5, 0.98, 0.02), chance)
        return score, (rng.random(size) < chance).astype(np.float64)


SCORED = (
    Scored("calibrated", (0.6, 0.3)), Scored("confident", (0.3, 0.15), True), Scored("rarely fails", (0.5, 0.05), True),
    Scored("useless", (1, 1)), Scored("misplaced", (1, 1)),
)  # fmt: skip


def simulate_draws(scored: Scored, labelled: int, repeats: int, seed: int = 0, size: int = 400) -> Outcome:
    """Label outputs drawn by weighted chances; `_alone`: as many drawn uniformly, both corrected by the scores."""
    rng = np.random.default_rng([seed, labelled])
    truth = scored.draw(np.random.default_rng(9), 1_000_000)[1].mean()
    found = []
    nothing = np.zeros(size, bool)
    for _ in range(repeats):
        scores, labels = scored.draw(rng, size)
        ranks = (rng.permutation(size) + 1) / size
        sizes = draw_sizes(scores, 0.0, 1.0, 0.5)
        weighted = np.argsort(np.argsort(ranks / sizes)) < labelled
        chances = draw_chances(ranks, sizes, nothing, weighted, nothing)
        uniform = np.where(ranks * size <= labelled, labels, np.nan)
        for known, own in ((np.where(np.isnan(chances), np.nan, labels), chances), (uniform, None)):
            one = corrected_mean(scores, known, chances=own)
            assert one is not None
            found.append((one.value - truth, one.low, one.high))
    rows = np.array(found, np.float64).reshape(repeats, 2, 3)
    apart, inside = rows[:, :, 0], (rows[:, :, 1] <= truth) & (truth <= rows[:, :, 2])
    width, squares = (rows[:, :, 2] - rows[:, :, 1]).mean(axis=0), apart**2
    worse = squares[:, 0] - squares[:, 1]
    return Outcome(
        float(apart[:, 0].mean()), float(apart[:, 0].std() / np.sqrt(repeats)), float(inside[:, 0].mean()),
        float(inside[:, 1].mean()), float(width[0]), float(width[1]), float(np.sqrt(squares[:, 0].mean())),
        float(np.sqrt(squares[:, 1].mean())), float(worse.mean() / (worse.std() / np.sqrt(repeats))), 0.0,
    )  # fmt: skip


@dataclass(frozen=True)
class PairOutcome:
    """Many draws of two models whose judge is kinder to one: bias, coverage, and how often p < 5 %."""

    bias: float
    noise: float
    covered: float
    rejected: float
    judged: float


def simulate_pairs(overlap: str, lift: float, labelled: int, repeats: int, size: int = 400) -> PairOutcome:
    """Label outputs of two models that pass alike on a case; overlap: of the "same" cases, of others ("apart") or any.

    lift: how much likelier the second passes; without it, there is no difference.
    """
    rng = np.random.default_rng([labelled, len(overlap), round(100 * lift)])
    found = []
    for _ in range(repeats):
        ease = 0.2 + 0.5 * rng.random(size)
        order = rng.permutation(size)
        orders = (order, {"same": order, "apart": order[::-1]}.get(overlap, rng.permutation(size)))
        models = []
        for chance, kindness, own in zip((ease, ease + lift), (0.0, 0.12), orders, strict=True):
            passed = (rng.random(size) < chance).astype(np.float64)
            score = np.clip(0.7 * passed + 0.3 * rng.beta(2, 2, size) + kindness * (rng.random(size) < 0.5), 0, 1)
            labels = np.full(size, np.nan)
            labels[own[:labelled]] = passed[own[:labelled]]
            models.append((score, labels))
        one = corrected_difference(models[0], models[1])
        assert one is not None
        found.append((one.value, one.low, one.high, one.p, float((models[1][0] - models[0][0]).mean())))
    value, low, high, p, judged = np.array(found, np.float64).T
    return PairOutcome(
        float(value.mean() - lift), float(value.std() / np.sqrt(repeats)),
        float(((low <= lift) & (lift <= high)).mean()), float((p < 0.05).mean()), float(judged.mean() - lift),
    )  # fmt: skip
