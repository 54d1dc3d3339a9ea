"""Scores beside people's labels: agreement, confusion, corrected means, what sways a judge, what to label next."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from metrics.analysis import leaderboard
from metrics.analysis.labels import corrected_means, judge_agreement, label_queue, labelled_scores, raters
from metrics.analysis.labels.human_labels import draw_order, exported, human_labels
from metrics.core.suite import Outputs, Suite
from metrics.ingest import read_outputs, read_suite
from metrics.ingest.label_files import read_labels
from metrics.stats.judge_correction import UNIFORM, corrected_mean
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Labels
from tests.engine.engine_scenes import finished
from tests.labels import MODELS, add_labels, answer, label, labelled_run, passes

ROUGE = ("rouge", "rouge1")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All 40 cases labelled by ann, 30 by bo, who always passes."""
    run = labelled_run(Workspace(tmp_path_factory.mktemp("labelled")))
    label(run, "ann", range(40))
    add_labels(run, [(f"c{index}", "long", "bo", 1.0) for index in range(30)])
    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return labelled_run(Workspace(tmp_path_factory.mktemp("fresh")))


@pytest.fixture
def fresh(whole: Run) -> Run:
    shutil.rmtree(Labels(whole).folder, ignore_errors=True)
    return whole


def scores(run: Run, model: str) -> np.ndarray:
    rows = run.scores.query("metric == 'rouge1' and model == @model")
    return rows.set_index("case_id")["value"].reindex([f"c{index}" for index in range(len(rows))]).to_numpy()


def test_outputs_on_which_raters_differ_are_not_left_out(run: Run) -> None:
    people = human_labels(run, "good")
    assert people.label_counts[:30].tolist() == [2] * 30
    failed = np.array([not passes(index, "long") for index in range(30)])  # by ann; bo passes all
    np.testing.assert_array_equal(people.means[:30], np.where(failed, 0.5, 1.0))
    np.testing.assert_array_equal(people.split[:30], failed)
    drawn = people.draw_labels()
    assert (people.random.sum(), (~np.isnan(drawn)).sum(), people.split.sum()) == (80, 80, failed.sum())
    assert 0 < drawn[:30][failed].mean() < 1
    assert drawn[:30][~failed].all()


def test_raters(run: Run) -> None:
    together, pair = raters.rater_agreement(run, "good")
    assert (together.left, together.n, pair.left, pair.right, pair.n) == ("", 30, "ann", "bo", 30)
    assert pair.equal.value == pytest.approx(np.mean([passes(index, "long") for index in range(30)]))
    assert pair.kappa.value == pytest.approx(0.0)  # bo has no opinion of his own
    rows = raters.rater_outputs(run, "good", "ann", "bo")
    assert len(rows) == 30
    assert [row["left"] == row["right"] for row in rows] == sorted(row["left"] == row["right"] for row in rows)


def test_verdicts_at_the_threshold_and_the_outputs_behind_them(run: Run) -> None:
    (found,) = judge_agreement.agreements(run, "good", only=ROUGE, threshold=0.5)
    both = labelled_scores.labelled_scores(run, *ROUGE, "good")
    assert (found.n, found.chosen, sum(found.table)) == (80, "given", found.n)
    assert found.split == human_labels(run, "good").split.sum() > 0
    for count, cell in zip(found.table, judge_agreement.CELLS, strict=True):
        rows = judge_agreement.cell_outputs(run, both, 0.5, cell)
        assert len(rows) == count
        people, judge = cell.split("_")
        assert all((row["judge"] >= 0.5) is (judge == "pass") for row in rows)
        assert all(row["people"] in (0.5, float(people == "pass")) for row in rows)
        distances = [abs(float(row["judge"]) - 0.5) for row in rows]
        assert distances == sorted(distances, reverse=True)
    right = (both.score >= 0.5) == both.passed
    assert right.mean() == (found.table[0] + found.table[3]) / found.n
    by_model = [right[both.model == model].mean() for model in range(2)]  # of as many outputs, though not of labels
    assert found.accuracy.value == pytest.approx(np.mean(by_model))
    assert found.spearman.low < found.spearman.value < found.spearman.high


def test_the_suggested_threshold_parts_what_people_part(run: Run) -> None:
    (found,) = judge_agreement.agreements(run, "good", only=ROUGE)
    good = [scores(run, model)[i] for model in MODELS for i in range(40) if len(answer(i, model).split()) >= 8]
    poor = [scores(run, model)[i] for model in MODELS for i in range(40) if len(answer(i, model).split()) < 8]
    assert max(poor) < found.suggested.value < min(good)
    assert found.balanced.value == pytest.approx(10 / 11, abs=0.06)


def test_slices_are_parts_of_the_whole(run: Run) -> None:
    parts = judge_agreement.agreement_slices(run, "good", ROUGE)
    whole = judge_agreement.agreements(run, "good", only=ROUGE)[0]
    assert set(parts) == {("model", "long"), ("model", "short"), ("tag", "even")}
    assert sum(part.n for (kind, _), part in parts.items() if kind == "model") == whole.n
    of_even = judge_agreement.agreements(run, "good", only=ROUGE, tag="even", threshold=whole.threshold)[0]
    assert parts["tag", "even"].table == of_even.table


def test_corrected_means_are_the_kernels(fresh: Run) -> None:
    label(fresh, "ann", range(15))
    rows = corrected_means.corrected_means(fresh, "good", ROUGE)
    for row in rows:
        labels = np.array([passes(index, row.model) if index < 15 else np.nan for index in range(40)])
        assert row.corrected == corrected_mean(scores(fresh, row.model), labels)
        assert row.labels.value == pytest.approx(np.nanmean(labels))
        cell = leaderboard(fresh).cells[row.model, "rouge/rouge1"]
        assert (row.raw.value, row.raw.low, row.n, row.total) == (cell.value, cell.low, 15, 40)
        gap = scores(fresh, row.model)[:15] - labels[:15]
        assert row.gap.value == pytest.approx(gap.mean())


def test_groups_are_clusters(workspace: Path) -> None:
    run = labelled_run(Workspace(), grouped=True)
    label(run, "ann", range(20))
    (row, _) = corrected_means.corrected_means(run, "good", ROUGE)
    assert row.corrected.clusters == 5
    assert judge_agreement.agreements(run, "good", only=ROUGE)[0].cases == 5


def test_only_a_random_sample_is_averaged(fresh: Run) -> None:
    order = draw_order(fresh)
    ranked = sorted(range(80), key=lambda place: order[place])
    names = [(f"c{place % 40}", MODELS[place // 40]) for place in ranked]
    labels = Labels(fresh)
    for case_id, model in names[:6]:
        labels.give(case_id, model, "ann", "good", 1.0, "drawn")
    labels.give(*names[2], "ann", "good", None, "drawn")  # unsure: drawn, but no label
    labels.give(*names[70], "ann", "good", 0.0, "picked")
    people = human_labels(fresh, "good")
    assert sorted(np.flatnonzero(people.random)) == sorted(ranked[:6])
    assert np.flatnonzero(people.unsure).tolist() == [ranked[2]]
    assert (sum(people.unanswered.values()), people.label_counts.sum()) == (0, 6)
    # what was picked joins the sample when the drawing of its model has passed it
    labels.give(*next(name for name in names[71:] if name[1] == names[70][1]), "ann", "good", 1.0, "drawn")
    assert human_labels(fresh, "good").random[ranked[70]]


def test_the_order_of_drawing_is_the_datas_alone(fresh: Run) -> None:
    order = draw_order(fresh)
    assert sorted(order) == list(range(80))
    assert (order != np.arange(80)).any()
    again = labelled_run(Workspace(fresh.workspace.path), name="Again")
    np.testing.assert_array_equal(draw_order(again), order)


def test_the_queue_takes_turns_and_goes_on_where_it_stood(fresh: Run) -> None:
    found = label_queue.queue(fresh, "good", "ann", ROUGE, threshold=0.5, most=80)
    assert (found.done, found.drawn, found.total, len(found.next)) == (0, 0, 80, 80)
    assert len({(one.case_id, one.model) for one in found.next}) == 80
    order, size = draw_order(fresh), 40
    drawn = [one for one in found.next if one.sampling == "drawn"]
    places = [MODELS.index(one.model) * size + int(one.case_id[1:]) for one in drawn]
    assert all(order[a] < order[b] for a, b in pairwise(places))
    labels = Labels(fresh)
    for place, one in enumerate(found.next[:4]):
        coming = label_queue.queue(fresh, "good", "ann", ROUGE, threshold=0.5, most=1)
        assert (coming.next[0], coming.done) == (one, place)
        labels.give(one.case_id, one.model, "ann", "good", 1.0, one.sampling)
    assert label_queue.queue(fresh, "good", "bo", ROUGE, threshold=0.5, most=1).done == 0


def test_scores_near_the_threshold_or_else_the_median_are_the_likeliest_to_be_drawn(fresh: Run) -> None:
    of_all = np.concatenate([scores(fresh, model) for model in MODELS])
    for threshold, centre in ((0.4, 0.4), (None, np.median(of_all))):
        sizes = label_queue.draw_sizes_of(fresh, "good", ROUGE, threshold).reshape(len(MODELS), -1)
        assert sizes.min() >= UNIFORM
        for own, model in zip(sizes, MODELS, strict=True):
            order = np.argsort(scores(fresh, model))
            below = scores(fresh, model)[order] <= centre
            assert (np.diff(own[order][below]) >= -1e-12).all()
            assert (np.diff(own[order][~below]) <= 1e-12).all()
    alone = label_queue.queue(fresh, "good", "ann", ROUGE, most=20, mixed=False).next
    assert {one.sampling for one in alone} == {"weighted"}


def test_skipped_outputs_come_last_and_a_model_can_be_chosen(fresh: Run) -> None:
    first = label_queue.queue(fresh, "good", "ann", most=80).next
    assert {one.sampling for one in first} == {"drawn"}
    skipped = (first[0].case_id, first[0].model)
    after = label_queue.queue(fresh, "good", "ann", skipped=[skipped, ("nope", "long")], most=80).next
    assert after == (*first[1:], first[0])
    of_one = label_queue.queue(fresh, "good", "ann", model="short", most=80)
    assert ({one.model for one in of_one.next}, of_one.total) == ({"short"}, 40)


def test_what_is_exported_can_be_added_again(run: Run, workspace: Path) -> None:
    frame = exported(run)
    assert frame.columns[:5].tolist() == ["case_id", "model", "rater", "criterion", "label"]
    file = workspace / "all.csv"
    frame.to_csv(file, index=False)
    again = read_labels(file, suite=run.suite, models=run.models).table
    names = ["case_id", "model", "rater", "criterion", "value"]
    assert again.select(names).to_pylist() == Labels(run).table().select(names).to_pylist()


@pytest.fixture(scope="module")
def graded(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    data = shared / "data/mtrag"
    suite = read_suite(data / "suite.csv")
    outputs = read_outputs(data / "outputs.csv", suite=suite)
    run = finished(Workspace(tmp_path_factory.mktemp("mtrag")), suite, outputs, "rouge")
    found = read_labels(data / "human_labels.csv", suite=run.suite, models=run.models)
    assert found.value_columns == ("faithfulness", "appropriateness", "naturalness", "completeness")
    Labels(run).add(found.table, found.file)
    return run


class TestMTRAG:
    def test_quadratic_kappa_of_pairs_as_the_file_orders_them(self, graded: Run) -> None:
        together, *pairs = raters.rater_agreement(graded, "faithfulness")
        found = {(pair.left, pair.right): pair.weighted.value for pair in pairs}
        expected = {
            ("1st label", "2nd label"): 0.545, ("1st label", "3rd label"): 0.532, ("2nd label", "3rd label"): 0.570,
        }  # fmt: skip
        assert found == {pair: pytest.approx(kappa, abs=5e-4) for pair, kappa in expected.items()}
        assert all(pair.weighted.low < pair.weighted.value < pair.weighted.high for pair in pairs)
        assert together.alpha.value == pytest.approx(0.47, abs=5e-4)  # ordinal

    def test_each_metric_has_its_agreement_with_people(self, graded: Run) -> None:
        found = {one.column.metric: one for one in judge_agreement.agreements(graded, "faithfulness")}
        assert set(found) == {"rouge1", "rouge2", "rougeL", "rougeLsum"}
        for one in found.values():
            assert (one.n, one.cases) == (477, 159)
            assert one.spearman.low < one.spearman.value < one.spearman.high
        assert found["rougeL"].spearman.value == pytest.approx(0.4034, abs=1e-4)


def test_pandalms_people_are_read_as_they_come(shared: Path, workspace: Path) -> None:
    file = shared / "data/pandalm/pandalm_testset_human.json"
    rows = json.loads(file.read_text())
    suite = Suite.from_rows(
        "pandalm", "text", [{"case_id": str(row["idx"]), "question": row["instruction"]} for row in rows]
    )
    outputs = Outputs.from_rows([{"case_id": str(row["idx"]), "model": "pair", "answer": "one of two"} for row in rows])
    run = finished(Workspace(), suite, outputs, "looping_detection")
    found = read_labels(file, suite=run.suite, models=run.models)
    assert (found.form, found.value_columns) == ("raters", ("annotator1", "annotator2", "annotator3"))
    Labels(run).add(found.table, found.file)
    pairs = {(one.left[-1], one.right[-1]): one for one in raters.rater_agreement(run, "label") if one.left}
    assert {pair: one.kappa.value for pair, one in pairs.items()} == {
        ("1", "2"): pytest.approx(0.8520, abs=5e-5), ("1", "3"): pytest.approx(0.8789, abs=5e-5),
        ("2", "3"): pytest.approx(0.8617, abs=5e-5),
    }  # fmt: skip
    assert all(one.n == 999 for one in pairs.values())
