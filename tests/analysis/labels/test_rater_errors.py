"""Three raters of a run: their errors, whether the judge may replace one, and shares corrected for its errors."""

import csv
import io
import math

import numpy as np
import pytest

from metrics.analysis.labels.corrected_means import corrected_means
from metrics.analysis.labels.judge_agreement import agreements
from metrics.analysis.labels.labelled_scores import labelled_scores
from metrics.analysis.labels.pass_rates import pass_rates
from metrics.analysis.labels.rater_errors import annotator_test, rater_errors
from metrics.cli.main import main
from metrics.presentation.rater_words import (
    NO_SHARE,
    errors_sentence,
    errors_table,
    pass_rate_table,
    replacement_frame,
    replacement_sentence,
    replacement_table,
)
from metrics.stats.judge_correction import true_share
from metrics.stats.rater_agreement import alternative_annotator, dawid_skene
from metrics.store import Run, Workspace
from tests.labels import MODELS, add_labels, answer, labelled_run

ROUGE = ("rouge", "rouge1")
RATERS = {"ann": 0.95, "bo": 0.9, "cy": 0.7}  # how often each is right


def labels(models: tuple[str, ...] = MODELS, raters: tuple[str, ...] = tuple(RATERS)) -> list:
    rng = np.random.default_rng(4)
    rows = []
    for model in MODELS:
        for place in range(60):
            good = len(answer(place, model).split()) >= 8
            given = {name: float(good == (rng.random() < right)) for name, right in RATERS.items()}
            rows += [(f"c{place}", model, name, given[name]) for name in raters if model in models]
    return rows


@pytest.fixture
def run(workspace) -> Run:
    return labelled_run(Workspace(), 60)


def test_each_raters_errors_are_those_of_the_kernel(run: Run) -> None:
    add_labels(run, labels())
    found = rater_errors(run, "good")
    assert (found.n, found.sample, found.obstacle) == (120, "outputs", "")
    ratings = np.array([value for *_, value in labels()]).reshape(120, 3)
    expected = dawid_skene(ratings, np.ones((1, 120)))[0]
    assert found.share.value == pytest.approx(expected[0])
    for place, one in enumerate(found.raters):
        assert (one.rater, one.labels) == (list(RATERS)[place], 120)
        assert one.passes == pytest.approx(ratings[:, place].mean())
        assert one.sensitivity.low <= one.sensitivity.value == pytest.approx(expected[1 + place])
        assert one.specificity.value == pytest.approx(expected[4 + place])
    assert errors_sentence(found).startswith("Of 120 outputs with two labels or more, a share of 0.")
    assert len(errors_table(found).rows) == 3


def test_an_error_takes_thirty_outputs_of_its_kind(run: Run) -> None:
    add_labels(run, [row for row in labels() if int(row[0][1:]) < 30])
    found = rater_errors(run, "good")
    kinds = round(found.share.value * found.n, 6), round((1 - found.share.value) * found.n, 6)
    for one in found.raters:
        for stat, kind in zip((one.sensitivity, one.specificity), kinds, strict=True):
            assert (stat.value is None, stat.needs) == (kind < 30, max(0, math.ceil(30 - kind)))


@pytest.mark.parametrize(("rows", "criterion", "obstacle"), [
    (labels(raters=("ann", "bo")), "good", "raters"),
    ([row for row in labels() if int(row[0][1:]) < 24], "good", "outputs"),
    ([(*row[:3], row[3] + 2 * (row[2] == "ann")) for row in labels()], "tone", "graded"),
], ids=["two raters", "48 outputs", "grades"])  # fmt: skip
def test_where_errors_are_not_determined_there_are_none(run: Run, rows, criterion, obstacle) -> None:
    add_labels(run, rows, criterion)
    found = rater_errors(run, criterion)
    assert (found.obstacle, found.share.value, found.raters) == (obstacle, None, ())
    assert not errors_sentence(found).startswith("Of")


def test_a_judge_is_tested_against_each_rater(run: Run) -> None:
    add_labels(run, labels())
    found = annotator_test(run, "good", ROUGE, threshold=0.6)
    both = labelled_scores(run, *ROUGE, "good")
    ratings = np.array([value for *_, value in labels()]).reshape(120, 3)
    expected = alternative_annotator((both.score >= 0.6).astype(float), ratings, both.clusters, 0.1)
    assert found.tests == tuple(zip(RATERS, expected, strict=True))
    assert (found.n, found.raters) == (120, 3)
    assert found.replaces is (found.winning_rate >= 0.5)
    sentence = replacement_sentence(found, "good")
    assert sentence.startswith("ROUGE-1 may")
    assert f"against {sum(one.wins for one in expected)} of 3 raters" in sentence
    assert [row[0] for row in replacement_table(found).rows] == list(RATERS)
    frame = replacement_frame([("good", found)])
    assert frame["rater"].tolist() == ["", *RATERS]
    assert frame["judge"][0] == pytest.approx(np.mean([one.judge for one in expected]))


def test_a_threshold_that_the_labels_chose_is_tested_on_the_others(run: Run) -> None:
    add_labels(run, labels())
    found = annotator_test(run, "good", ROUGE)
    assert len(found.tests) == 3
    assert annotator_test(run, "good", ROUGE, epsilon=0.2).tests[0][1].p < found.tests[0][1].p


def test_two_raters_or_few_outputs_are_not_tested(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    add_labels(run, labels(raters=("ann", "bo")))
    found = annotator_test(run, "good", ROUGE, threshold=0.6)
    assert (found.obstacle, found.raters, found.winning_rate, found.replaces) == ("raters", 2, None, False)
    assert replacement_sentence(found, "good").endswith(
        "it takes three raters with 30 outputs each that another labelled, too; there are 2."
    )
    monkeypatch.setattr("metrics.stats.rater_agreement.FEWEST_ITEMS", 121)
    assert annotator_test(run, "good", ROUGE, threshold=0.6).raters == 0


def test_a_model_without_labels_has_a_share_by_the_judges_errors(run: Run) -> None:
    add_labels(run, labels(models=("long",)))
    long, short = pass_rates(run, "good", ROUGE, threshold=0.6)
    assert (long.labels, short.labels, short.obstacle) == (60, 0, "")
    both = labelled_scores(run, *ROUGE, "good")
    hits = (both.score >= 0.6) == both.passed
    passed = float((run.scores.query("metric == 'rouge1' and model == 'short'")["value"] >= 0.6).mean())
    good = both.passed
    share, ends = true_share(passed, 60, hits[good].mean(), good.sum(), hits[~good].mean(), (~good).sum())
    assert (short.judged.value, short.corrected.value) == (pytest.approx(passed), pytest.approx(share))
    assert (short.corrected.low, short.corrected.high) == pytest.approx(ends)
    assert corrected_means(run, "good", ROUGE)[1].corrected is None
    assert len(pass_rate_table([long, short]).rows) == 2


def test_shares_are_corrected_only_where_the_errors_are_known(run: Run) -> None:
    add_labels(run, labels())
    assert {one.obstacle for one in pass_rates(run, "good", ROUGE)} == {"threshold"}
    suggested = agreements(run, "good", only=ROUGE)[0].suggested.value
    assert {one.obstacle for one in pass_rates(run, "good", ROUGE, threshold=suggested)} == {"threshold"}
    assert {one.obstacle for one in pass_rates(run, "good", ROUGE, threshold=0.001)} == {"chance"}
    add_labels(run, labels()[:12], "few")
    assert {one.obstacle for one in pass_rates(run, "few", ROUGE, threshold=0.6)} == {"labels"}
    add_labels(run, [row for row in labels() if row[0] != "c7"], "picked", sampling="picked")
    rows = pass_rates(run, "picked", ROUGE, threshold=0.6)
    assert {one.obstacle for one in rows} == {"random"}
    assert [row[2] for row in pass_rate_table(rows).rows] == ["no label of an output drawn at random"] * 2


def test_the_commands(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    add_labels(run, labels())
    assert main(["labels", "raters", run.id]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["statistic"] for row in rows if row["rater"] == ""] == ["alpha", "passes"]
    assert [row["statistic"] for row in rows if (row["rater"], row["other"]) == ("ann", "bo")] == [
        "kappa", "weighted", "equal",
    ]  # fmt: skip
    assert [row["statistic"] for row in rows if (row["rater"], row["other"]) == ("cy", "")] == [
        "sensitivity", "specificity",
    ]  # fmt: skip
    assert main(["labels", "means", run.id, "--metric", "rouge1"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    names = ["raw", "corrected", "labels", "gap", "unsure", "judged", "passes"]
    assert [(row["model"], row["statistic"]) for row in rows] == [(model, name) for model in MODELS for name in names]
    (first, _) = corrected_means(run, "good", ROUGE)
    assert float(rows[1]["value"]) == pytest.approx(first.corrected.value)
    assert (rows[4]["note"], rows[6]["note"]) == ("no label is unsure", NO_SHARE["threshold"])
    assert main(["labels", "replacement", run.id, "--metric", "rouge1", "--epsilon", "0.2"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["rater"] for row in rows] == ["", *RATERS]
    assert {row["epsilon"] for row in rows} == {"0.2"}
    assert main(["labels", "replacement", run.id, "--epsilon", "2"]) == 2
    assert "--epsilon: found 2; expected a share between 0 and 1" in capsys.readouterr().err
