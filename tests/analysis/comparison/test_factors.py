"""Models and prompts as two factors of a run: planted effects are found, what is missing is said."""

import numpy as np
import pytest

from metrics.analysis import compare, leaderboard
from metrics.analysis.comparison.factors import ALL, NO_CASE, NO_PAIRS, TwoFactors, factor_effects
from metrics.store import Run
from tests.analysis.comparison import test_paired_bootstrap as pets
from tests.analysis.scored import scored_run

pytestmark = pytest.mark.usefixtures("workspace")
FACTORS = {f"{model} | {prompt}": (model, prompt) for model in ("gpt", "llama") for prompt in ("terse", "long")}
N = 60


def values(effects: dict[str, float], n: int = N) -> dict[str, list[float | None]]:
    """Values of cases that all entries find as hard, with what each entry has more."""
    rng = np.random.default_rng(4)
    hard = rng.uniform(0.2, 0.5, n)
    return {name: (hard + more + rng.normal(0, 0.05, n)).tolist() for name, more in effects.items()}


def run_of(*more: float, **design: list) -> Run:
    given = values(dict(zip(FACTORS, more, strict=True)))
    return scored_run({"rouge.rougeL": given}, design=design)


def effects_by_name(found: TwoFactors) -> dict:
    (metric,) = found.metrics
    return {(one.factor, one.a, one.b): one for one in metric.effects}


def test_planted_effects_are_found() -> None:
    found = factor_effects(run_of(0.1, 0.0, 0.3, 0.2), FACTORS)
    assert (found.models, found.prompts, found.left_out, found.tested) == (("gpt", "llama"), ("terse", "long"), (), 3)
    (metric,) = found.metrics
    assert (metric.n, found.cases, metric.reason) == (N, N, "")
    effects = effects_by_name(found)
    assert effects["prompt", "terse", "long"].difference == pytest.approx(-0.1, abs=0.02)
    assert effects["model", "gpt", "llama"].significance == "better"
    assert effects["prompt", "terse", "long"].significance == "worse"
    assert not effects["interaction", "llama", "long"].is_clear
    mean = metric.means["gpt", ALL].value
    assert mean == pytest.approx((metric.means["gpt", "terse"].value + metric.means["gpt", "long"].value) / 2)
    for one in metric.effects:
        assert one.low < one.difference < one.high


def test_an_interaction_is_the_difference_of_differences() -> None:
    found = factor_effects(run_of(0.0, 0.2, 0.2, 0.0), FACTORS)
    effects = effects_by_name(found)
    assert effects["interaction", "llama", "long"].difference == pytest.approx(-0.4, abs=0.03)
    assert effects["interaction", "llama", "long"].is_clear
    assert not effects["prompt", "terse", "long"].is_clear


def test_cells_are_those_of_the_leaderboard_and_a_pair_that_of_the_comparison() -> None:
    """With one prompt twice the mean over prompts is that of one, so that the effect of a model is its comparison."""
    own = values({"gpt": 0.1, "llama": 0.0})
    given = {name: own[model] for name, (model, _) in FACTORS.items()}
    weights = {"weight": [1.0, 2.0] * (N // 2), "group": [f"g{place // 3}" for place in range(N)]}
    run = scored_run({"rouge.rougeL": given}, design=weights)
    found = factor_effects(run, FACTORS)
    (metric,), board = found.metrics, leaderboard(run)
    for entry, pair in FACTORS.items():
        cell = board.cells[entry, "rouge/rougeL"]
        assert metric.means[pair] == pytest.approx((cell.value, cell.low, cell.high))
    (row,) = compare(run, "gpt | terse", "llama | terse").rows
    effect = effects_by_name(found)["model", "gpt", "llama"]
    for name in ("difference", "low", "high", "p", "error"):
        assert getattr(effect, name) == pytest.approx(getattr(row, name))
    assert found.clustered
    prompts = effects_by_name(found)["prompt", "terse", "long"]
    assert (prompts.difference, prompts.p, prompts.significance, found.tested) == (0.0, None, "equal", 1)


def test_shares_have_the_intervals_of_the_leaderboard() -> None:
    rng = np.random.default_rng(1)
    run = scored_run(
        {"text_matching.passes": {name: rng.integers(0, 2, 30).astype(float).tolist() for name in FACTORS}}
    )
    (metric,), board = factor_effects(run, FACTORS).metrics, leaderboard(run)
    for entry, pair in FACTORS.items():
        cell = board.cells[entry, "text_matching/passes"]
        assert metric.means[pair] == pytest.approx((cell.value, cell.low, cell.high))


def test_holm_is_over_all_effects_of_all_metrics() -> None:
    given = {f"{name}.{name}": values(dict.fromkeys(FACTORS, 0.0)) for name in ("faithfulness", "context_recall")}
    found = factor_effects(scored_run(given), FACTORS)
    p = np.array([one.p for metric in found.metrics for one in metric.effects])
    assert found.tested == len(p) == 6
    least = min((one for metric in found.metrics for one in metric.effects), key=lambda one: one.p)
    assert least.adjusted == pytest.approx(min(1.0, 6 * p.min()))


def test_cases_without_a_value_in_some_cell_do_not_count() -> None:
    given = values(dict.fromkeys(FACTORS, 0.0))
    given["gpt | long"][:7] = [None] * 7
    (metric,) = factor_effects(scored_run({"rouge.rougeL": given}), FACTORS).metrics
    assert metric.n == N - 7
    assert metric.means["llama", "long"].value == pytest.approx(np.mean(given["llama | long"][7:]))
    given["gpt | terse"] = [*given["gpt | terse"][:7], *[None] * (N - 7)]
    (metric,) = factor_effects(scored_run({"rouge.rougeL": given}), FACTORS).metrics
    assert (metric.reason, metric.means, metric.effects) == (NO_CASE, {}, ())


def test_only_the_complete_grid_counts() -> None:
    more = {"gpt | cot": ("gpt", "cot"), "qwen | terse": ("qwen", "terse")}
    run = scored_run({"rouge.rougeL": values(dict.fromkeys([*FACTORS, *more, "other"], 0.0))})
    found = factor_effects(run, FACTORS | more)
    assert (found.models, found.prompts, found.left_out) == (("gpt", "llama"), ("terse", "long"), tuple(more))
    none = factor_effects(run, more)
    assert (none.models, none.metrics, none.left_out) == ((), (), tuple(more))


def test_numbers_of_the_data_set_are_compared_on_stored_resamples() -> None:
    recalls = {
        "gpt | terse": (0.6, 0.7),
        "gpt | long": (0.8, 0.7),
        "llama | terse": (0.7, 0.7),
        "llama | long": (0.95, 0.7),
    }
    run = pets.evaluated(pets.outputs(recalls))
    found = factor_effects(run, FACTORS)
    (metric,) = found.metrics
    (row,) = [row for row in compare(run, "gpt | terse", "gpt | long").resampled if row.column.key == metric.column.key]
    cells = metric.means
    assert cells["gpt", "long"].value - cells["gpt", "terse"].value == pytest.approx(row.difference)
    effect = effects_by_name(found)["prompt", "terse", "long"]
    gains = [cells[model, "long"].value - cells[model, "terse"].value for model in found.models]
    assert effect.difference == pytest.approx(np.mean(gains))
    assert (effect.significance, effect.clusters) == ("better", pets.IMAGES)
    assert cells["gpt", ALL].low < cells["gpt", ALL].value < cells["gpt", ALL].high


def test_a_number_without_resamples_has_no_effects_and_says_why() -> None:
    run = pets.evaluated(pets.outputs(dict.fromkeys(FACTORS, (0.7, 0.7))), resamples=0)
    (metric,) = factor_effects(run, FACTORS).metrics
    assert (metric.reason, metric.effects) == (NO_PAIRS, ())
