"""Flips: perturbed cases whose metric crossed its threshold, compared with the flips of unchanged copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metrics.analysis.cases.threshold_outcomes import outcomes_sql, threshold_arguments
from metrics.analysis.leaderboard.leaderboard import leaderboard
from metrics.stats.corrections import holm, is_significant
from metrics.stats.group_rates import Stratum, exact_excess
from metrics.stats.intervals import wilson
from metrics.store import Run, cache_by_run

if TYPE_CHECKING:
    import pandas as pd

CONTROL = "copy"  # the perturbation that changes nothing
UNNAMED = "not named"
KEY = ["model", "evaluator", "metric", "perturbation"]
FLIPS = [*KEY, "case_id", "original", "before", "after", "threshold", "direction", "change"]
RATES = [
    *KEY, "control", "pairs", "unscored", "flips", "worse", "better", "rate", "low", "high", "control_pairs",
    "control_flips", "control_rate", "p", "adjusted", "exceeds",
]  # fmt: skip
PAIRS = f"""
    variants AS (
        SELECT case_id, perturbs AS original, coalesce(nullif(trim(perturbation), ''), '{UNNAMED}') AS perturbation
        FROM suite_cases WHERE perturbs IS NOT NULL
    ),
    {outcomes_sql("case_id IN (SELECT case_id FROM variants UNION ALL SELECT original FROM variants)")},
    pairs AS (
        SELECT model, evaluator, metric, v.perturbation, v.case_id, v.original, o.value AS before, n.value AS after,
               n.threshold, n.sign, n.good, o.good != n.good AS flipped
        FROM variants v JOIN outcomes n ON n.case_id = v.case_id
        JOIN (SELECT model, evaluator, metric, case_id AS original, value, good FROM outcomes) o
            USING (model, evaluator, metric, original)
    )"""


def flips(run: Run, **of: str | None) -> pd.DataFrame:
    """Return one row for every perturbed case whose metric is on the other side of the threshold than its original's.

    `of` keeps only one model, evaluator, metric or perturbation. Columns FLIPS: before and after are the values of the
    original and of the variant (repeats averaged), `change` is worse (now on the wrong side) or better. Only metrics
    with a threshold, a direction and a value per case count; minor ones and those that mirror others do not. Exactly on
    the threshold is good.
    """
    found = _flips(run)
    for name, wanted in of.items():
        if wanted is not None:
            found = found[found[name] == wanted]
    return found.reset_index(drop=True)


def flip_rates(run: Run) -> pd.DataFrame:
    """Return how often each kind of perturbation flips each metric of each model, with the copies: columns RATES.

    rate = flips / pairs, over the pairs of a variant and its original that both have a value (`unscored` do not), with
    Wilson's 95 % interval; its n is the number of originals, as variants of one original are correlated. control_…: the
    flips of unchanged copies of the originals, the base rate, which is 0 if model and evaluator are deterministic.
    p: one-sided exact test, stratified by original (metrics.stats.group_rates), of the kind flipping no more than the
    copies; adjusted: after Holm's correction over all rows. exceeds: adjusted ≤ 0.05; None if no original has both. p
    is None without any flip to compare. Empty for a suite without perturbed cases.
    """
    return _rates(run).copy()


@cache_by_run(maxsize=16)
def _flips(run: Run) -> pd.DataFrame:
    found = run.query(
        f"""WITH {PAIRS}
            SELECT p.* EXCLUDE (sign, good, flipped), CASE WHEN sign < 0 THEN 'lower' ELSE 'higher' END AS direction,
                   CASE WHEN good THEN 'better' ELSE 'worse' END AS change
            FROM pairs p JOIN (SELECT case_id, position FROM suite_cases) USING (case_id)
            WHERE flipped ORDER BY change DESC, position""",
        threshold_arguments(run),
    )
    return _in_order(found, run)[FLIPS]


@cache_by_run(maxsize=16)
def _rates(run: Run) -> pd.DataFrame:
    import pandas as pd

    # one row for each model, metric, kind and combined outcome of an original's variants and copies
    found = run.query(
        f"""WITH {PAIRS},
            own AS (
                SELECT model, evaluator, metric, perturbation, original, count(*) AS n,
                       count(*) FILTER (flipped) AS hits, count(*) FILTER (flipped AND NOT good) AS worse
                FROM pairs GROUP BY ALL
            ),
            copies AS (
                SELECT model, evaluator, metric, original, n AS copies, hits AS copy_hits
                FROM own WHERE lower(perturbation) = '{CONTROL}'
            )
            SELECT model, evaluator, metric, perturbation, n, hits, coalesce(copies, 0) AS copies,
                   coalesce(copy_hits, 0) AS copy_hits, count(*) AS originals, sum(worse)::BIGINT AS worse
            FROM own LEFT JOIN copies USING (model, evaluator, metric, original) GROUP BY ALL ORDER BY ALL""",
        threshold_arguments(run),
    )
    sizes = run.query(
        f"""SELECT coalesce(nullif(trim(perturbation), ''), '{UNNAMED}') AS perturbation, count(*) AS n
            FROM suite_cases WHERE perturbs IS NOT NULL GROUP BY ALL"""
    )
    variants = dict(zip(sizes["perturbation"], sizes["n"], strict=True))
    rows = [_rate(dict(zip(KEY, key, strict=True)), part, variants[key[3]]) for key, part in found.groupby(KEY)]
    frame = pd.DataFrame(rows, columns=RATES).astype(dict.fromkeys(("control_rate", "p", "adjusted"), float))
    tested = frame["p"].notna()
    frame.loc[tested, "adjusted"] = holm(frame.loc[tested, "p"].to_numpy())
    exceeds = pd.Series(is_significant(frame["adjusted"].to_numpy()), frame.index).astype(object)
    return _in_order(frame.assign(exceeds=exceeds.where(frame["control_pairs"] > 0, None)), run)


def _rate(key: dict[str, Any], part: pd.DataFrame, variants: int) -> dict[str, Any]:
    """Return one row of RATES before the correction."""
    times = part["originals"].to_numpy()
    pairs, hits = int(part["n"] @ times), int(part["hits"] @ times)
    control = key["perturbation"].casefold() == CONTROL
    rate = hits / pairs
    low, high = wilson(rate * times.sum(), int(times.sum()))
    copies = 0 if control else int(part["copies"] @ times)
    copy_hits = 0 if control else int(part["copy_hits"] @ times)
    outcomes = part[["n", "hits", "copies", "copy_hits"]].itertuples(index=False, name=None)
    strata = {Stratum(*outcome): int(many) for outcome, many in zip(outcomes, times, strict=True)}
    return key | {
        "control": control, "pairs": pairs, "unscored": variants - pairs, "flips": hits,
        "worse": int(part["worse"].sum()), "better": hits - int(part["worse"].sum()), "rate": rate, "low": low,
        "high": high, "control_pairs": copies, "control_flips": copy_hits,
        "control_rate": copy_hits / copies if copies else None, "p": exact_excess(strata) if copies else None,
    }  # fmt: skip


def _in_order(frame: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Return the rows in the run's order of models, evaluators and metrics, then by kind, the control last."""
    columns = [(column.evaluator, column.metric) for column in leaderboard(run).columns]
    keys = [
        (run.models.index(model), columns.index((evaluator, metric)), kind.casefold() == CONTROL, kind)
        for model, evaluator, metric, kind in frame[KEY].astype(str).to_numpy().tolist()
    ]
    return frame.iloc[sorted(range(len(frame)), key=keys.__getitem__)].reset_index(drop=True)
