"""How values spread: quantiles and bins as numpy's, whiskers as Tukey's, bins whose links list what they count."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from metrics.analysis import cases
from metrics.analysis.leaderboard.distributions import FAR, distributions, metrics_by_case
from metrics.store import Run, Workspace
from metrics.suites.samples import samples
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.random_seeds import seeds

NAME = "answer_correctness"


def of(values: list[float | None]) -> Run:
    return scored_run({NAME: {"one": values}})


@settings(max_examples=len(seeds(6, 100)), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.05, 0.15, 0.3, 1.0]), min_size=1, max_size=60))
def test_boxes_are_tukeys_and_bins_hold_every_value(workspace: Path, values: list[float]) -> None:
    found = distributions(of([*values, None]), NAME, NAME, ["one"])
    (one,) = found.models
    lower, median, upper = np.percentile(values, [25, 50, 75])
    assert one.box == pytest.approx((lower, median, upper))
    assert (one.n, one.mean) == (len(values), pytest.approx(np.mean(values)))
    assert one.bins == tuple(np.histogram(values, found.edges)[0])
    reach = 1.5 * (one.box[2] - one.box[0])
    outside = [value for value in values if not one.box[0] - reach <= value <= one.box[2] + reach]
    assert (one.beyond, len(one.far)) == (len(outside), min(FAR, one.beyond))
    assert min([*outside, one.whisker_low]) == min(values)


def test_a_bin_opens_exactly_the_cases_it_counts(workspace: Path) -> None:
    values = [round(0.05 * step, 2) for step in range(21)] * 3 + list(np.random.default_rng(3).random(100))
    run = of(values)
    found = distributions(run, NAME, NAME, ["one"])
    ends = [*found.edges[:-1], None]
    for count, low, high in zip(found.models[0].bins, ends, [*ends[1:-1], None, None], strict=False):
        assert low is not None
        told = [None if end is None else float(f"{end:g}") for end in (low, high)]  # as an address has it
        assert cases(run, NAME, NAME, model="one", low=told[0], high=told[1]).total == count


def test_the_farthest_cases_are_named(workspace: Path) -> None:
    found = distributions(of([0.5, 0.51, 0.49, 0.5, 0.52, 0.48, 1.0, 0.0]), NAME, NAME, ["one"])
    assert found.models[0].far == (("c6", 1.0), ("c7", 0.0))
    assert (found.models[0].whisker_low, found.models[0].whisker_high) == (0.48, 0.52)


def test_an_open_range_is_that_of_the_values_and_a_tag_narrows(workspace: Path) -> None:
    run = finished(Workspace(), text_suite(12), text_outputs(12), "looping_detection", "rouge")
    found = distributions(run, "looping_detection", "compression_ratio", ["good", "poor"])
    assert found.edges[0] == pytest.approx(min(one.quantiles[0] for one in found.models), rel=1e-5)
    assert distributions(run, "rouge", "rougeL", ["poor"], tag="third").models[0].n == 4


def test_a_metric_without_values_per_case_has_none(workspace: Path) -> None:
    assert distributions(of([None, None]), NAME, NAME, ["one"]) is None


def test_metrics_by_case_are_those_with_values_among_the_scores(workspace: Path) -> None:
    text = finished(Workspace(), text_suite(), text_outputs(), "rouge", "text_matching", "pii_leakage")
    tickets = next(one for one in samples() if one.id == "classification")
    labels = finished(Workspace(), *tickets.read(), "classification")
    for run in (text, labels):
        scored = run.scores.dropna(subset="value")
        assert metrics_by_case(run) == set(zip(scored["evaluator"], scored["metric"], strict=True))
    assert ("text_matching", "retrieval_failures") not in metrics_by_case(text)
