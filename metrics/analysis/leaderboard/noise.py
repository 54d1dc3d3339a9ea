"""Where the noise of a model's mean comes from, what more of each source would give, and the cheapest plan for a width.

Scores differ from case to case, from one answer of the model to the next (repeats), and from one reply of the judge to
the next (draws, or the judges of a panel).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import orjson

from metrics.analysis.labels.judgements import judged_evaluators
from metrics.analysis.labels.panel_agreement import has_panel
from metrics.analysis.leaderboard.resources import measured_outputs
from metrics.core.array_types import Floats
from metrics.core.sampling_design import SamplingDesign
from metrics.judge.settings import settings_of
from metrics.stats import variance_components
from metrics.stats.student_t import Z95
from metrics.store import Run, cache_by_run

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 1_000
MIN_CASES = 20  # cases with repeats, or outputs with draws, below which their share of the noise is not told
MIN_VARIANTS = 3  # of the prompt; two say next to nothing about the next
VARIANT = "prompt_variant"  # the column of the outputs
SOURCES = ("cases", "repeats", "draws")


@dataclass(frozen=True, slots=True)
class NoiseShare:
    """The share of one source in the variance of a mean, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PromptNoise:
    """What the wording of the prompt adds to the noise of one model's mean, over cases answered under every variant.

    share: of the variance of the mean; half_width: half of its 95 % interval for all such cases and prompts; both None
    with a `reason`.
    """

    variants: int
    cases: int
    share: float | None = None
    half_width: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ModelNoise:
    """The noise of one model's mean.

    found: the variance components; worth: how many equally weighted cases the cases are worth; units: how many are
    independent, groups or cases; several: how many cases have repeats, and how many outputs draws; shares: of the
    sources that are known; answer_usd, draw_usd: dollars of an answer, and of judging it once (0 without a judge), None
    where not known.
    """

    model: str
    found: variance_components.Components
    worth: float
    units: int
    several: Mapping[str, int]
    shares: Mapping[str, NoiseShare]
    answer_usd: float | None = None
    draw_usd: float | None = 0.0
    prompts: PromptNoise | None = None

    @property
    def needs(self) -> int:
        """How many more cases with repeats, or outputs with draws, it takes to tell shares; 0: enough, or none."""
        return max((MIN_CASES - have for have in self.several.values() if 0 < have < MIN_CASES), default=0)

    @property
    def priced(self) -> bool:
        """Whether a plan's cost is in dollars; else in answers of the model and replies of a repeated judge."""
        return self.answer_usd is not None and self.draw_usd is not None

    @property
    def parts(self) -> tuple[float, float, float]:
        """Return the share that each of SOURCES has in the variance of the mean of this run."""
        return self.found.parts(self.worth, self.found.repeats, self.found.draws)

    @property
    def single(self) -> tuple[float, float, float]:
        """The standard deviation of one score, the share of its variance within a case, and the one between groups."""
        now = self.found
        within = (now.repeat or 0.0) + (now.draw or 0.0)
        whole = now.group + now.case + within
        shares = (within / whole, now.group / whole) if whole > 0 else (0.0, 0.0)
        return math.sqrt(whole), *shares

    def half_width(self, cases: float = 1.0, repeats: float = 1.0, draws: float = 1.0) -> float:
        """Return half of the mean's 95 % interval with so many times the cases, repeats and draws of now: 1.96·SE."""
        now = self.found
        return Z95 * now.error(self.worth * cases, now.repeats * repeats, now.draws * draws)

    def plan(self, half_width: float, case_cost: float = 0.0) -> variance_components.Plan:
        """Return the cheapest plan for a 95 % interval of ± `half_width`; a new case costs `case_cost` once.

        In dollars where `priced`; else an answer costs 1, and a draw of the judge where draws are known.
        """
        if self.answer_usd is not None and self.draw_usd is not None:
            return variance_components.cheapest(self.found, half_width, case_cost, self.answer_usd, self.draw_usd)
        return variance_components.cheapest(self.found, half_width, case_cost, 1.0, float(self.found.draw is not None))


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of the models' means of one metric; judged: by a judge, whose draws may be a part of it.

    grouped: groups of cases are the units.
    """

    models: tuple[ModelNoise, ...]
    judged: bool
    grouped: bool

    @property
    def shares(self) -> Mapping[str, float]:
        """The shares of the sources that are known, of all models together; empty where only the cases are."""
        told = [one for one in self.models if len(one.shares) > 1 and not one.needs]
        parts = np.array([one.parts for one in told]).reshape(-1, len(SOURCES)).sum(axis=0)
        known = {source for one in told for source in one.shares}
        if not parts.sum() > 0:
            return {}
        shares = zip(SOURCES, (parts / parts.sum()).tolist(), strict=True)
        return {source: share for source, share in shares if source in known}


def is_repeated(run: Run) -> bool:
    """Return whether a run has several answers to a case, or several replies of judges to an answer."""
    return has_panel(run) or bool(run.query("SELECT max(run) > min(run) AS several FROM scores")["several"].any())


@cache_by_run(maxsize=32)
def noise(run: Run, evaluator: str, metric: str, tag: str | None = None) -> Noise | None:
    """Return the noise of each model's mean over all cases, or those with a tag; None without values per case.

    Components: metrics.stats.variance_components, the cases of a group counted together; intervals of shares:
    expanded percentiles of resampled cases (groups). The draws of a judge count as averaged, also where the score is
    their majority; of a panel each judge is a draw, less what it gives on average.
    """
    rows, fixed = _scores(run, evaluator, metric)
    design = run.sampling_design(tag)
    rows = rows[np.isin(rows["position"], design.inside)]
    judged = evaluator in judged_evaluators(run)
    table = measured_outputs(run).select(["model", "cost_usd"]).to_pandas().dropna()
    answers = {str(model): float(mean) for model, mean in table.groupby("model")["cost_usd"].mean().items()}
    draws = _judge_prices(run, evaluator) if judged else {}
    variants = _variants(run)
    found = []
    for model in run.models:
        own = rows[rows["model"] == model]
        each = draws.get(model) if judged else 0.0
        price = each / len(own) if each and len(own) else each
        if (made := _of_model(model, own, design, fixed, run.spec.seed)) is not None:
            prompts = None if variants is None else _prompt_noise(own, variants, design)
            found.append(replace(made, answer_usd=answers.get(model), draw_usd=price, prompts=prompts))
    return Noise(tuple(found), judged, design.clusters is not None) if found else None


def _of_model(model: str, rows: pd.DataFrame, design: SamplingDesign, fixed: int, seed: int) -> ModelNoise | None:
    values, case = rows["value"].to_numpy(np.float64), rows["position"].to_numpy(np.int64)
    repeat = rows["run"].fillna(1).to_numpy(np.int64)
    place = np.searchsorted(design.inside, case)
    group = None if design.clusters is None else design.clusters[place]
    several = bool(rows.duplicated("position").any())
    made = variance_components.resampled_components(
        values, case, repeat, group, fixed, seed, RESAMPLES if several else 0
    )
    if made is None:
        return None
    found, drawn = made
    cases = np.unique(place)
    weights = np.ones(len(cases)) if design.weights is None else design.weights[cases]
    worth = float(weights.sum() ** 2 / (weights**2).sum())
    outputs = rows.groupby(["position", "run"], dropna=False).size()
    counts: dict[str, int] = {
        "repeats": int((outputs.groupby(level="position").size() > 1).sum()),
        "draws": int((outputs > 1).sum()),
    }
    # of a mean over as many cases, repeats and draws as there are
    scale = np.array([found.size, 1.0, 1 / found.repeats, 1 / found.repeats / found.draws])
    parts = np.stack([scale * row for row in (_row(found), *drawn)])
    total = parts.sum(axis=1, keepdims=True)
    parts = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)
    of_source = np.column_stack([parts[:, :2].sum(axis=1), parts[:, 2:]])
    known = {"cases": True, "repeats": found.repeat is not None, "draws": found.draw is not None}
    units = len(cases) if group is None else len(np.unique(group))
    tail = variance_components.expanded_tail(units)
    shares = {
        source: NoiseShare(float(column[0]), *np.quantile(column[several:], [tail, 1 - tail]).tolist())
        for source, column in zip(SOURCES, of_source.T, strict=True)
        if known[source] and total[0, 0] > 0
    }
    return ModelNoise(model, found, worth, units, counts, shares)


def _variants(run: Run) -> pd.DataFrame | None:
    """Return position, model, run and variant of the outputs that name a variant of the prompt; None if none does."""
    outputs = run.needed("outputs/outputs.parquet")
    if VARIANT not in outputs.columns:
        return None
    named = outputs.rows(["case_id", "model", "run", VARIANT]).to_pandas().dropna(subset=[VARIANT])
    if named.empty:
        return None
    ids = run.case_columns(["case_id"])["case_id"].to_pandas()
    positions = {case_id: position for position, case_id in enumerate(ids)}
    placed: pd.DataFrame = named.assign(position=named["case_id"].map(positions), run=named["run"].fillna(1))
    return placed


def _prompt_noise(rows: pd.DataFrame, variants: pd.DataFrame, design: SamplingDesign) -> PromptNoise | None:
    """Return the noise of the prompts in a model's mean; None where its outputs name no variant.

    rows: of one model; draws of a judge and repeats under one variant are averaged.
    """
    key = ["position", "model", "run"]
    joined = rows.assign(run=rows["run"].fillna(1)).merge(variants[[*key, VARIANT]], on=key)
    if joined.empty:
        return None
    cells = joined.pivot_table(index="position", columns=VARIANT, values="value", aggfunc="mean").dropna()
    cases, many = cells.shape
    if many < MIN_VARIANTS:
        return PromptNoise(many, cases, reason=f"it takes {MIN_VARIANTS} variants of the prompt; there are {many}")
    if cases < MIN_CASES:
        return PromptNoise(many, cases, reason=f"it takes {MIN_CASES} cases answered under every variant, not {cases}")
    if not design.plain:
        return PromptNoise(many, cases, reason="cases have groups or weights, of which it is not known")
    made = variance_components.crossed_mean(cells.to_numpy(np.float64))
    return PromptNoise(many, cases, made.share, made.half_width)


def _row(found: variance_components.Components) -> Floats:
    """Return the components in the order of their LEVELS, 0 for one that is not known."""
    return np.array([found.group, found.case, found.repeat or 0.0, found.draw or 0.0])


def _scores(run: Run, evaluator: str, metric: str) -> tuple[pd.DataFrame, int]:
    """Return the values by position, model and run, a judge's draws one by one, and how many means were taken off."""
    rows = run.query(
        "SELECT position, model, run, value FROM scores WHERE evaluator = ? AND metric = ? AND value IS NOT NULL",
        [evaluator, metric],
    )
    drawn = _draws(run, evaluator, metric) if has_panel(run) else rows[:0]
    if drawn.empty:
        return rows, 0
    panel = settings_of(run.spec.judge).panel
    if panel:
        means = (drawn.groupby(by)["value"].transform("mean") for by in (["model"], ["model", "judge"]))
        drawn["value"] += next(means) - next(means)
    key = ["position", "model", "run"]
    rest = rows[~rows.set_index(key).index.isin(drawn.set_index(key).index)]
    return drawn[rows.columns] if rest.empty else rest.merge(drawn[rows.columns], how="outer"), len(panel)


def _draws(run: Run, evaluator: str, metric: str) -> pd.DataFrame:
    """Return a row a value of a judge or of a draw: position, model, run, judge, value."""
    import pandas as pd

    found = run.query(
        "SELECT position, model, run, json_extract_string(evidence, '$.panel.judges') AS judges FROM scores "
        "WHERE evaluator = ? AND json_extract_string(evidence, '$.panel.judges') IS NOT NULL",
        [evaluator],
    )
    rows = [
        (position, model, repeat, record["judge"], record["values"][metric])
        for position, model, repeat, judges in found.itertuples(index=False, name=None)
        for record in orjson.loads(judges)
        if record["values"].get(metric) is not None
    ]
    return pd.DataFrame(rows, columns=["position", "model", "run", "judge", "value"])


def _judge_prices(run: Run, evaluator: str) -> dict[str, float]:
    """Return what all replies that the scores rest on cost, by model of the outputs; those with every price known.

    A reply from the cache counts: a new case has none there.
    """
    rows = run.query(
        """SELECT model, sum(cost_usd) AS usd FROM judgements WHERE evaluator = ?
           GROUP BY model HAVING count(*) FILTER (cost_usd IS NULL AND reply IS NOT NULL) = 0""",
        [evaluator],
    )
    return {str(model): float(usd) for model, usd in rows.itertuples(index=False) if usd == usd and usd is not None}
