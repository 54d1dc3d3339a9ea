"""Regression, ordered and several classes, and fairness beside their oracles: python -m tests.benchmarks.bench_classes

    python -m tests.benchmarks.bench_classes [--peers PYTHON]

The same numbers with their 95 % intervals: the evaluator with its 500 resamples, the oracle once and over 20 bootstrap
resamples, of which 500 take 25 times as long. Processor seconds. fairlearn and HiClass are compared where they are
installed, here or with PYTHON, another interpreter of the same version. Three minutes. Limit: no slower.
"""

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import stats
from sklearn import metrics as sk

from metrics.core.registry import evaluators
from metrics.core.suite import CASES, OUTPUTS, PREDICTIONS, Outputs, Suite, conform
from tests.benchmarks.table import Row, add_packages, options, report
from tests.benchmarks.timing import quickest

N, K, SETS = 20_000, 10, 10_000
RESAMPLES, TRIED = 500, 20


def data_set(task: Any, scores: Any = None, given: dict[str, Any] | None = None, **cases: Any) -> tuple[Suite, Outputs]:
    """Cases with these columns, one model's columns, and a score for each of the labels l0, l1, …"""
    n = len(next(iter(cases.values())))
    ids = pa.array([f"c{place}" for place in range(n)])
    names = tuple(f"l{code}" for code in range(0 if scores is None else scores.shape[1]))
    suite = Suite("s", task, conform(pa.table({"case_id": ids, **cases}), CASES), None, names)
    models = {"case_id": ids, "model": pa.repeat("m", n), **(given or {})}
    predictions = None
    if scores is not None:
        k = len(names)
        rows = {"case_id": ids.take(pa.array(np.repeat(np.arange(n), k))), "model": pa.repeat("m", n * k)}
        rows |= {"label": pa.array(names).take(pa.array(np.tile(np.arange(k), n))), "score": scores.ravel()}
        predictions = conform(pa.table(rows), PREDICTIONS)
    return suite, Outputs(conform(pa.table(models), OUTPUTS), predictions)


def rows_of(
    name: str, title: str, data: tuple[Suite, Outputs], oracle: Callable[[Any], object], n: int, **given: Any
) -> list[Row]:
    """Return the time of an evaluator beside its oracle's, called with the places of the cases of a resample."""
    entry, rng = evaluators()[name], np.random.default_rng(0)
    own = quickest(lambda: entry(*data, entry.parameters.model_validate(given)), tries=3)
    alone = quickest(lambda: entry(*data, entry.parameters.model_validate(given | {"resamples": 0})), tries=3)
    once = quickest(lambda: oracle(np.arange(n)), tries=3)
    resampled = quickest(lambda: [oracle(rng.integers(0, n, n)) for _ in range(TRIED)], tries=1) * RESAMPLES / TRIED
    return [
        Row(f"{title}: numbers and {RESAMPLES} resamples", own, "s", resampled, "oracle", most=1.0),
        Row(f"{title}: numbers, evidence, intervals of means", alone, "s", once, "oracle, numbers only", most=1.0),
    ]


def kappas(true: Any, scores: Any) -> list[float]:
    """Return scikit-learn's weighted κ of the highest-scored classes."""
    made = scores.argmax(axis=1)
    return [sk.cohen_kappa_score(true, made, weights=kind) for kind in ("quadratic", "linear")]


def main() -> None:
    warnings.simplefilter("ignore")
    if python := options(__doc__, None).peers:
        add_packages(python)
    rng = np.random.default_rng(0)
    truth = rng.normal(50, 10, N)
    guess = truth + rng.normal(0, 5, N)
    errors = (sk.mean_absolute_error, sk.root_mean_squared_error, sk.mean_squared_error, sk.r2_score,
              sk.median_absolute_error, sk.mean_absolute_percentage_error)  # fmt: skip
    orders = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    code, scores = rng.integers(0, K, N), rng.random((N, K))
    names = pa.array([f"l{place}" for place in range(K)])
    labelled = data_set("classification", scores, label=names.take(pa.array(code)))
    sets, of_sets = rng.random((SETS, K)) < 0.3, rng.random((SETS, K))
    lists = pa.array([[f"l{place}" for place in np.flatnonzero(row)] for row in sets])
    made = of_sets >= 0.5
    rows = [
        *rows_of("regression", f"regression, {N:,} cases",
            data_set("regression", given={"predicted_value": guess}, true_value=truth),
            lambda at: [one(truth[at], guess[at]) for one in (*errors, *orders)], N),
        *rows_of("top_k_accuracy", f"top-k accuracy, {N:,} cases of {K} classes", labelled,
            lambda at: [sk.top_k_accuracy_score(code[at], scores[at], k=k, labels=range(K)) for k in (1, 3, 5)], N),
        *rows_of("ordinal", f"ordinal, {N:,} cases of {K} levels", labelled, lambda at: kappas(code[at], scores[at]), N,
            levels=tuple(names.to_pylist())),
        *rows_of("multilabel", f"multilabel, {SETS:,} cases of {K} labels", data_set("classification", of_sets,
            labels=lists), lambda at: [*(sk.precision_recall_fscore_support(sets[at], made[at], average=mean,
            zero_division=np.nan) for mean in ("macro", "micro", "weighted", "samples", None)),
            sk.accuracy_score(sets[at], made[at]), sk.hamming_loss(sets[at], made[at]),
            sk.average_precision_score(sets[at], of_sets[at]), sk.coverage_error(sets[at], of_sets[at]),
            sk.label_ranking_average_precision_score(sets[at], of_sets[at]), sk.label_ranking_loss(sets[at],
            of_sets[at])], SETS),
    ]  # fmt: skip
    if find_spec("hiclass"):
        import hiclass.metrics as hierarchical  # type: ignore[import-not-found, import-untyped, unused-ignore]

        above = np.array([f"group {place // 3}" for place in range(K)])
        own = np.array(names.to_pylist())
        lines = np.column_stack([above, own])
        means = (hierarchical.precision, hierarchical.recall, hierarchical.f1)
        rows += rows_of(
            "hierarchical_classification", f"hierarchical classification, {N:,} cases of {K} classes", labelled,
            lambda at: [mean(lines[code[at]], lines[scores[at].argmax(axis=1)]) for mean in means], N,
            parents=dict(zip(own.tolist(), above.tolist(), strict=True)),
        )  # fmt: skip
    for name in ("hiclass", "fairlearn"):
        if not find_spec(name):
            print(f"not installed, so not compared: {name} (--peers PYTHON)")
    if find_spec("fairlearn"):
        import fairlearn.metrics as fair  # type: ignore[import-not-found, import-untyped, unused-ignore]

        true, tribe = code == 0, rng.integers(0, 4, N)
        two = np.column_stack([scores[:, 0], 1 - scores[:, 0]])
        chosen = two[:, 0] >= 0.5
        data = data_set("classification", two, label=names.take(pa.array(np.where(true, 0, 1))))
        groups = pa.array([f"g{one}" for one in tribe])
        suite = Suite("s", "classification", data[0].cases.append_column("metadata.tribe", groups), None, ("l0", "l1"))
        functions = (fair.demographic_parity_difference, fair.demographic_parity_ratio, fair.equalized_odds_difference,
                     fair.equalized_odds_ratio)  # fmt: skip
        rows += rows_of(
            "group_fairness", f"group fairness, {N:,} cases of 4 groups", (suite, data[1]),
            lambda at: [one(true[at], chosen[at], sensitive_features=tribe[at]) for one in functions], N,
            column="tribe", positive="l0",
        )  # fmt: skip
    report(rows)


if __name__ == "__main__":
    main()
