"""Agreement of raters and of panels from their ratings alone, against other implementations and by hand."""

from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from metrics import engine
from metrics.analysis.labels import raters
from metrics.analysis.labels.panel_agreement import _agreement, _groups, _level, has_panel, panel_agreement
from metrics.analysis.labels.raters import all_raters, pairs_of_raters, scale_of
from metrics.core.evaluator import Metric
from metrics.presentation.agreement_words import rater_noise_sentence
from metrics.stats.rater_agreement import Level
from metrics.store import Run, Workspace
from tests.analysis.scored import scored_run, with_resources
from tests.engine.engine_scenes import text_outputs, text_suite
from tests.labels import add_labels, label, labelled_run

NONE = np.nan
ONCE = [[1, 1, 2], [2, 2, NONE], [3, 2, 3], [1, NONE, NONE], [2, 3, 3], [1, 1, 1], [3, NONE, 2], [2, 1, NONE]]
RATINGS = np.tile(np.array(ONCE, float), (3, 1))
ALONE = np.arange(24)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_is_of_the_outputs_with_two_labels(level: Level) -> None:
    [found] = all_raters(RATINGS, ALONE, level)
    assert (found.left, found.right, found.n) == ("", "", 21)
    assert found.alpha.value == pytest.approx(krippendorff.alpha(RATINGS.T, level_of_measurement=level))
    assert found.alpha.low < found.alpha.value < found.alpha.high
    assert (found.kappa.value is None) is (level != "nominal")


def test_the_kind_of_label_chooses_the_level() -> None:
    assert [scale_of(RATINGS, graded) for graded in (False, True)] == ["nominal", "ordinal"]
    assert scale_of(np.arange(raters.MOST_KINDS + 1.0)[:, None], True) == "interval"
    metrics = Metric("m", "", binary=True), Metric("m", "", high=5.0), Metric("m", "", high=np.inf)
    assert list(map(_level, metrics)) == ["nominal", "interval", "ratio"]


@pytest.mark.parametrize(("rows", "needs"), [(1, 9), (9, 1), (10, 0)])
def test_below_ten_outputs_it_says_how_many_more_it_takes(rows: int, needs: int) -> None:
    labels = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 1.0]])[np.arange(rows) % 3]
    [together], [pair] = all_raters(labels, ALONE[:rows], "ordinal"), pairs_of_raters(["a", "b"], labels, ALONE[:rows])
    assert (together.n, pair.n) == (rows, rows)
    assert {one.needs for one in (together.alpha, pair.kappa, pair.equal)} == {needs}
    assert (pair.kappa.value is None) is bool(needs)


def test_raters_who_never_differ_are_not_certain() -> None:
    labels = np.repeat(np.arange(12) % 2, 2).reshape(12, 2).astype(float)
    [together], [pair] = all_raters(labels, ALONE[:12], "nominal"), pairs_of_raters(["a", "b"], labels, ALONE[:12])
    for one in (together.alpha, together.kappa, pair.kappa, pair.equal):
        assert one.value == 1.0
        assert 0 < one.low < 0.8 < one.high


def test_pairs_are_compared_on_what_both_rated() -> None:
    found = pairs_of_raters(["a", "b", "c"], RATINGS, ALONE)
    assert [(pair.left, pair.right, pair.n) for pair in found] == [("a", "b", 18), ("a", "c", 15), ("b", "c", 12)]
    for pair, (left, right) in zip(found, [(0, 1), (0, 2), (1, 2)], strict=True):
        both = ~np.isnan(RATINGS[:, left] + RATINGS[:, right])
        one, other = RATINGS[both, left], RATINGS[both, right]
        assert pair.equal.value == pytest.approx((one == other).mean())
        assert pair.kappa.value == pytest.approx(cohen_kappa_score(one, other))
        assert pair.weighted.value == pytest.approx(cohen_kappa_score(one, other, weights="quadratic"))
        assert pair.alpha.value is None


def test_yes_and_no_have_no_weights_and_many_kinds_no_kappa(monkeypatch: pytest.MonkeyPatch) -> None:
    yes_and_no = np.tile(np.array([[0, 0], [1, 1], [0, 1], [1, 1]], float), (3, 1))
    [two] = pairs_of_raters(["a", "b"], yes_and_no, ALONE[:12])
    assert (two.kappa.value, two.weighted.value) == (pytest.approx(0.5), None)
    monkeypatch.setattr(raters, "MOST_KINDS", 3)
    [three] = pairs_of_raters(["a", "b"], RATINGS[:, :2], ALONE)
    assert three.kappa.value is not None
    monkeypatch.setattr(raters, "MOST_KINDS", 2)
    [many] = pairs_of_raters(["a", "b"], RATINGS[:, :2], ALONE)
    assert (many.kappa.value, many.weighted.value, many.equal.value) == (None, None, pytest.approx(0.5))


def records(*values: tuple[float | None, ...], metric: str = "m") -> list[list[dict[str, Any]]]:
    names = ("a", "b", "c")
    return [
        [{"judge": name, "values": {metric: value}} for name, value in zip(names, own, strict=False)] for own in values
    ]


def test_a_panels_agreement_by_hand() -> None:
    given = 3 * records((1, 1, 0), (1, 1, 1), (0, 1, None), (0, None, None), (1, 1, 1.0000000001))
    found = _agreement("e", Metric("m", "A metric."), "", given, np.array([4, 4, 7, 8, 9, *range(10, 20)]))
    assert (found.evaluator, found.metric, found.judge, found.n, found.disputed) == ("e", "m", "", 12, 6)
    assert found.alike.value == pytest.approx((2 / 3 + 1 + 1 / 2 + 1) / 4)
    assert [(pair.left, pair.right, pair.n) for pair in found.raters] == [
        ("", "", 12), ("a", "b", 12), ("a", "c", 9), ("b", "c", 9),
    ]  # fmt: skip


@pytest.mark.parametrize(("judge", "several"), [
    ({"model": "m"}, False),
    ({"model": "m", "repeats": 2, "temperature": 0.7}, True),
    ({"model": "m", "panel": [{"model": "n"}]}, True),
    (None, False),
], ids=["one-judge", "two-draws", "two-judges", "no-judge"])  # fmt: skip
def test_what_makes_a_panel(workspace: Path, judge: dict[str, Any] | None, several: bool) -> None:
    ids = ["faithfulness"] if judge else ["rouge"]
    run = engine.create(Workspace(), text_suite(), text_outputs(), ids, resources={"judge": judge} if judge else {})
    assert has_panel(run) is several
    if not several:
        assert panel_agreement(run) == []


def test_two_outputs_are_too_few_for_a_panels_agreement() -> None:
    metric = Metric("m", "A metric.")
    assert _agreement("e", metric, "", records((1, 1), (0, 1), (1, None)), np.arange(3)) is None
    found = _agreement("e", metric, "", records((1, 1), (0, 1), (1, 1)), np.arange(3))
    assert (found.n, found.disputed) == (3, 1)
    assert {one.needs for one in (found.alike, found.raters[0].alpha, found.raters[1].kappa)} == {0}


def test_draws_are_a_group_for_each_judge() -> None:
    one, two = {"judge": "1", "values": {}}, {"judge": "2", "values": {}}
    given = [[{"judge": "a", "draws": [one, two]}, {"judge": "b"}], [{"judge": "b"}], [{"judge": "a", "draws": [two]}]]
    assert list(_groups(given, "alone")) == [("alone", given), ("a", [[one, two], (), [two]])]


def test_the_panel_of_a_run(workspace: Path) -> None:
    name = "faithfulness"
    judged = records((1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (1.0, 1.0), metric=name)
    told = {(name, "m", place): {"panel": {"judges": given}} for place, given in enumerate(judged)}
    run = scored_run({name: {"m": [1.0, 0.0, 0.5, 1.0]}}, told)
    run = with_resources(run, judge={"model": "one", "panel": [{"model": "two"}]})
    (found,) = panel_agreement(run)
    assert (found.evaluator, found.metric, found.n, found.disputed) == (name, name, 4, 1)
    assert found.alike.value == pytest.approx((1 + 1 + 1 / 2 + 1) / 4)


def graded(run: Run, cases: int, stricter: float) -> None:
    people = (("a", 0.0), ("b", stricter))
    grades = [(f"c{place}", "long", rater, 1.0 + place % 8 - less) for place in range(cases) for rater, less in people]
    add_labels(run, grades, "tone")


def test_where_labels_differ_is_parted(workspace: Path) -> None:
    """Raters of whom one is always stricter by .5: nothing is left beside outputs and raters."""
    run = labelled_run(Workspace(workspace))
    graded(run, 24, 0.5)
    found = raters.rater_noise(run, "tone")
    outputs = np.var(np.tile(np.arange(8), 3), ddof=1)
    assert (found.n, found.outputs.value) == (24, pytest.approx(outputs / (outputs + 0.125)))
    assert found.raters.value == pytest.approx(0.125 / (outputs + 0.125))
    assert found.rest.value == pytest.approx(0, abs=1e-12)
    sentence = rater_noise_sentence(found)
    assert sentence.startswith("Of the variance of labels, 98 % (")
    assert sentence.endswith(") lies between outputs, 2 % between raters, and 0 % in how raters see the same output.")


def test_few_double_labels_are_not_parted(workspace: Path) -> None:
    run = labelled_run(Workspace(workspace))
    graded(run, 4, 0.5)
    found = raters.rater_noise(run, "tone")
    assert (found.outputs.needs, rater_noise_sentence(found)) == (6, "")
    label(run, "c", range(20))
    assert raters.rater_noise(run, "good") is None, "one rater alone"
