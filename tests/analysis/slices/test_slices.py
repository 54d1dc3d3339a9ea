"""Slices of a run: their words and addresses, what they are made of, their values, those that are found."""

import json
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metrics.analysis import cases, compare
from metrics.analysis.objects.operating_point import best_point
from metrics.analysis.slices.find_slices import find_slices, slices
from metrics.analysis.slices.slice_conditions import Condition, Slice, parse
from metrics.analysis.slices.slice_features import Categories, Marks, Numbers, features, known_of_cases, mask_of
from metrics.analysis.slices.slice_outcomes import measures
from metrics.analysis.slices.slice_values import in_words, one_slice, positions, slice_values
from metrics.analysis.slices.topics import clustered, has_topics, representative, topics
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.presentation.questions.where_is_it_worse import search_blocks
from metrics.reports.renderers.export_tables import table
from metrics.stats.intervals import wilson
from metrics.stats.slice_means import pooled
from metrics.store import Run, Workspace
from tests.analysis.slices.slicing import PLANTED, pair_run, pictures_run, sliced_run
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.models.word_vectors import WordVectors
from tests.presentation.asked import ask

BY = ("classification_text", "accuracy")
HOSTILE = 'a ‘b’ " [x] <img src=x>'


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """2,000 questions; the 60 tagged `table` with more than 3 contexts are right 41 % of the time instead of 78 %."""
    return sliced_run(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """150 images; `m` finds one of four small dogs and nine of ten other objects."""
    return pictures_run(tmp_path_factory.mktemp("pictures"))


def number(feature: str, low: float | None, high: float | None) -> Condition:
    return Condition(feature, low=low, high=high, is_number=True)


TABLE, MANY = Condition("tag", "table"), number("contexts", 3.0, None)


@pytest.mark.parametrize(("where", "words"), [
    ((TABLE, MANY), "tagged ‘table’ with more than 3 contexts"),
    ((MANY, TABLE), "tagged ‘table’ with more than 3 contexts"),
    ((number("contexts", None, 0.0),), "with no context"),
    ((number("contexts", 0.0, 1.0),), "with 1 context"),
    ((number("contexts", None, 2.0),), "with at most 2 contexts"),
    ((number("objects", 1.0, 4.0),), "with 2 to 4 objects"),
    ((number("question_length", 120.0, None),), "with a question of more than 120 characters"),
    ((number("answer_length", 10.0, 20.5),), "with an answer of more than 10 and at most 20.5 characters"),
    ((number("metadata.year", None, 2015.0),), "with year at most 2,015"),
    ((number("area", 99_999.0, None),), "with an area of more than 99,999 square pixels"),
    ((number("area", 100_000.0, None),), "with an area of more than 100,000 square pixels"),
    ((number("area", None, 123_456.0),), "with an area of at most 123,500 square pixels"),
    ((number("metadata.score", 1e15, None),), "with score above 1e+15"),
    ((number("metadata.score", 0.25, None),), "with score above 0.25"),
    ((Condition("class", "dog"), Condition("size", "small")), "of class ‘dog’ and of size ‘small’"),
    ((Condition("metadata.source", None), MANY), "without source with more than 3 contexts"),
    ((Condition("metadata.kind", HOSTILE),), f"with kind ‘{HOSTILE}’"),
    ((Condition("topic", "3", title="bridge, cable"),), "about ‘bridge, cable’"),
])  # fmt: skip
def test_words(where: tuple[Condition, ...], words: str) -> None:
    assert Slice("m", where).words("questions") == f"Questions {words}"


@given(
    st.text(),
    st.lists(
        st.one_of(
            st.builds(Condition, st.text(), st.none() | st.text()),
            st.builds(number, st.text(), st.none() | st.floats(-1e9, 1e9), st.none() | st.floats(-1e9, 1e9)),
        ),
        min_size=1,
        max_size=2,
    ),
)
def test_an_address_is_read_back(model: str, where: list[Condition]) -> None:
    assert parse(Slice(model, tuple(where)).address) == Slice(model, tuple(where))


@pytest.mark.parametrize("address", [
    "", "tag:table", "[]", "null", '{"model": "m", "of": "cases"}', '{"model": "m", "of": "cases", "where": []}',
    '{"model": "m", "of": "models", "where": [["tag", "x"]]}', '{"model": "m", "of": "cases", "where": [["tag"]]}',
    '{"model": "m", "of": "cases", "where": [["n", "x", null]]}', '{"model": "m", "of": "cases", "where": [3]}',
])  # fmt: skip
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(InputError, match="the slice "):
        parse(address)


def test_the_planted_slice_is_found(run: Run) -> None:
    found = find_slices(run, "m", *BY)
    [only] = found.slices
    told = "Questions tagged ‘table’ with more than 3 contexts: 0.383 instead of 0.769, n = 60"
    assert only.sentence.startswith(told)
    assert only.sentence.endswith(f"p = 0.001 after correction for {found.searched} slices tested")
    assert (only.value.n, only.value.cases, found.n, found.least) == (PLANTED, PLANTED, 2_000, 20)
    assert found.explained > 0


def test_its_address_opens_exactly_its_cases(run: Run) -> None:
    [only] = find_slices(run, "m", *BY).slices
    page = cases(run, *BY, model="m", status="ok", within=only.value.slice.address, limit=100)
    assert page.total == PLANTED
    assert all("table" in tags for tags in page.rows["tags"])
    assert page.rows["value"].mean() == pytest.approx(only.value.value)
    outputs = {row["case_id"]: row["retrieved_contexts"] for row in run.outputs.outputs.to_pylist()}
    assert all(len(outputs[case_id]) > 3 for case_id in page.rows["case_id"])
    again = one_slice(run, *BY, parse(only.value.slice.address))
    assert replace(again, slice=only.value.slice, label=only.value.label) == only.value
    assert in_words(run, parse(only.value.slice.address)) == "Cases tagged ‘table’ with more than 3 contexts"


def test_where_a_model_falls_behind_a_baseline(tmp_path: Path) -> None:
    """Each case's difference is sliced: over all cases it is that of the comparison, and the planted slice is found."""
    run = pair_run(tmp_path)
    [row] = [row for row in compare(run, "base", "m").rows if row.column.metric == "accuracy"]
    table = slice_values(run, "m", *BY, baseline="base")
    assert (table.overall.value, table.overall.n) == (row.difference, row.n)
    assert table.overall.interval == "bootstrap"
    found = find_slices(run, "m", *BY, baseline="base")
    assert found.measure.title == "Classification by text: Accuracy, difference from base"
    own = found.slices[0].value
    assert (own.words, own.n) == ("Questions tagged ‘table’ with more than 3 contexts", PLANTED)
    assert own.rest == 0
    wrong = [case["value"] == 0 for _, case in cases(run, *BY, model="m", within=own.slice.address).rows.iterrows()]
    assert own.value == pytest.approx(-np.mean(wrong))
    with pytest.raises(InputError, match="no case has values of both m and nobody"):
        slice_values(run, "m", *BY, baseline="nobody")


def test_objects_have_no_difference_from_a_baseline(pictures: Run) -> None:
    with pytest.raises(InputError, match="has no value of a case that m and m could be compared by"):
        slice_values(pictures, "m", "detection_pr_curve", "objects_found", baseline="m")


def test_values_of_every_feature(run: Run) -> None:
    found = slice_values(run, "m", *BY)
    assert found.overall.interval == "wilson"
    by_name = {feature.name: feature.slices for feature in found.features}
    assert set(by_name) == {"tag", "metadata.kind", "question_length", "contexts", "context_length"}
    assert [row.label for row in by_name["contexts"]] == ["1", "2", "3", "4", "5"]
    for rows in by_name.values():
        assert sum(row.n for row in rows) == 2_000
        for row in rows:
            assert (row.low, row.high) == pytest.approx(wilson(round(row.value * row.n), row.n))
            assert row.worse == (row.difference_high < 0)
    assert [row.label for row in by_name["tag"] if row.worse] == ["table"]
    assert found.overall.value == pytest.approx(run.scores.query("metric == 'accuracy'")["value"].mean())
    assert (found.overall.n, found.noun, found.unscored) == (2_000, "questions", 0)


def test_slices_are_drawn_towards_each_other_by_feature(run: Run) -> None:
    """By partial pooling: the fewer cases the more, four slices and more, the interval around the drawn value."""
    by_name = {feature.name: feature.slices for feature in slice_values(run, "m", *BY).features}
    rows = by_name["contexts"]
    variances = [row.value * (1 - row.value) / row.n for row in rows]
    made = pooled(np.array([row.value for row in rows]), np.array(variances))
    assert [row.pooled for row in rows] == pytest.approx(made.means, abs=0.002)
    for row, low, high in zip(rows, made.low, made.high, strict=True):
        assert (row.pooled_low, row.pooled_high) == pytest.approx((low, high), abs=0.005)
    assert {row.pooled is None for row in by_name["tag"]} == {False}
    quarter = by_name["question_length"][0]
    assert quarter.pooled_low < quarter.pooled < quarter.pooled_high


def test_noise_has_no_bad_slice_and_says_what_could_have_been_found(tmp_path: Path) -> None:
    quiet = find_slices(sliced_run(tmp_path, size=600, seed=1, bad=None), "m", *BY)
    assert quiet.slices == ()
    sizes, gaps = zip(*quiet.detectable, strict=True)
    assert sizes == (20, 120)
    assert 0.1 < gaps[1] < gaps[0] < 0.8


def test_lower_is_better_turns_the_search(tmp_path: Path) -> None:
    """A slice whose values are higher is the bad one where lower is better."""
    rows = [
        {"case_id": f"c{place}", "question": "Who?", "tags": ["hard" if place % 4 == 0 else "easy"]}
        for place in range(200)
    ]
    outputs = [
        {"case_id": f"c{place}", "model": "m", "answer": "ha " * (30 if place % 4 == 0 else 1)} for place in range(200)
    ]
    suite = Suite.from_rows("loops", "text", rows)
    run = finished(Workspace(tmp_path), suite, Outputs.from_rows(outputs), "looping_detection")
    lower = next(one for one in measures(run) if one.direction == "lower")
    found = find_slices(run, "m", lower.evaluator, lower.metric)
    assert found.slices[0].value.words == "Questions tagged ‘hard’"
    assert found.slices[0].value.value > found.slices[0].value.rest


def test_objects_of_a_detection_run(pictures: Run) -> None:
    assert [one.metric for one in measures(pictures)] == ["best_f1?iou=0.5", "objects_found", "predictions_right"]
    found = find_slices(pictures, "m", "detection_pr_curve", "objects_found")
    first = found.slices[0].value
    assert first.words == "Objects of class ‘dog’ and of size ‘small’"
    annotations = pictures.suite.annotations
    small_dogs = [row for row in annotations.to_pylist() if row["label"] == "dog" and row["area"] < 32**2]
    assert first.n == len(small_dogs)
    assert f"n = {first.n} in {first.cases} images, p = " in found.slices[0].sentence
    page = cases(pictures, "detection_pr_curve", "best_f1", model="m", within=first.slice.address, limit=1_000)
    assert (set(page.rows["case_id"]), page.total) == ({row["case_id"] for row in small_dogs}, first.cases)
    assert in_words(pictures, first.slice) == "Cases with objects of class ‘dog’ and of size ‘small’"
    right = slice_values(pictures, "m", "detection_pr_curve", "predictions_right")
    assert (right.overall.value, right.overall.interval, right.noun) == (1.0, "bootstrap", "predictions")
    assert right.unscored == 0
    assert {"class", "size", "tag"} <= {feature.name for feature in right.features}


def test_predictions_that_nobody_would_keep_are_neither_right_nor_wrong(tmp_path: Path) -> None:
    """By day 150 false boxes score below 0.5 and 30 true ones 0.3: at the model's best F1 neither counts."""
    cases, truths, outputs, predictions = [], [], [], []
    for place in range(60):
        where = {"case_id": f"p{place}", "label": "cat", "y": 10.0, "width": 50.0, "height": 50.0}
        cases.append({"case_id": f"p{place}", "image_width": 640, "image_height": 480, "tags": ["day"] * (place % 2)})
        truths.append(where | {"x": 0.0, "area": 2500.0, "annotation_id": place + 1})
        outputs.append({"case_id": f"p{place}", "model": "m"})
        predictions.append(where | {"x": 0.0, "model": "m", "score": 0.3 if place % 4 == 1 else 0.9})
        predictions += [where | {"x": 100.0 * x, "model": "m", "score": 0.3} for x in range(1, 6) if place % 2]
    suite = Suite.from_rows("pictures", "detection", cases, truths)
    run = finished(Workspace(tmp_path), suite, Outputs.from_rows(outputs, predictions), "detection_pr_curve")
    assert best_point(run, "m").score == 0.31
    right = slice_values(run, "m", "detection_pr_curve", "predictions_right")
    assert (right.overall.value, right.overall.n, right.noun) == (1.0, 45, "predictions at score ≥ 0.31")
    found = slice_values(run, "m", "detection_pr_curve", "objects_found")
    assert (found.overall.value, found.overall.n, found.noun) == (0.75, 60, "objects (found at score ≥ 0.31)")
    assert not find_slices(run, "m", "detection_pr_curve", "predictions_right").slices
    [worse] = find_slices(run, "m", "detection_pr_curve", "objects_found").slices
    assert worse.sentence.startswith("Objects (found at score ≥ 0.31) tagged ‘day’: 0.500 instead of 1.00, n = 30")


def test_the_bins_of_a_number_share_no_end(run: Run) -> None:
    """Law: a bin is called by the least and the largest of its values."""
    for feature in slice_values(run, "m", *BY).features:
        spans = [row.label.replace(",", "").split(" – ") for row in feature.slices if row.slice.where[0].is_number]
        ends = [float(end) for span in spans for end in (span[0], span[-1])]
        assert ends == sorted(ends)
        assert all(before[-1] != after[0] for before, after in pairwise(spans))


def test_groups_are_shuffled_whole(tmp_path: Path) -> None:
    """Some of forty documents are hard, so any slice that follows documents differs: cases one by one would tell."""
    rng = np.random.default_rng(0)
    hard, kind = rng.random(40) < 0.25, rng.integers(0, 2, 40)
    rows = [
        {"case_id": f"c{place}", "question": "Who?", "expected_answers": ["yes"], "group": f"d{place % 40}",
         "metadata.kind": "ab"[kind[place % 40]]}
        for place in range(800)
    ]  # fmt: skip
    outputs = [
        {"case_id": f"c{place}", "model": "m", "answer": "nay" if hard[place % 40] else "yes"} for place in range(800)
    ]
    run = finished(Workspace(tmp_path), Suite.from_rows("documents", "text", rows), Outputs.from_rows(outputs), BY[0])
    found = find_slices(run, "m", *BY)
    assert found.clustered
    assert found.slices == ()
    table = slice_values(run, "m", *BY)
    assert all(row.difference_low < 0 < row.difference_high for row in table.features[0].slices)


def test_what_a_run_lacks_is_said(run: Run) -> None:
    with pytest.raises(InputError, match="has no values of rouge 'rougeL' to slice"):
        find_slices(run, "m", "rouge", "rougeL")
    with pytest.raises(InputError, match="has no model 'other'; it has m"):
        find_slices(run, "other", *BY)
    with pytest.raises(InputError, match=r"has nothing to slice by as 'metadata\.no'; it has tag"):
        positions(run, Slice("m", (Condition("metadata.no", "x"),)), BY[0])
    with pytest.raises(InputError, match="'contexts' is a number; the slice asks otherwise"):
        positions(run, Slice("m", (Condition("contexts", "3"),)), BY[0])
    assert len(positions(run, Slice("m", (Condition("tag", HOSTILE),)), BY[0])) == 0
    assert cases(run, *BY, within=Slice("m", (Condition("tag", "x"),)).address).total == 0


def test_bins_of_numbers() -> None:
    """Few numbers are bins of their own; more are cut at quartiles; whoever has none is in no bin."""
    few, many, same = features({
        "a": Numbers(np.array([1.0, 2, 2, 3, np.nan])), "b": Numbers(np.arange(100.0)),
        "c": Numbers(np.arange(7.0) % 2),
    })  # fmt: skip
    assert [one.label for one in few.conditions] == ["≤ 1", "1 – 2", "> 2"]
    assert few.facets[0].codes.tolist() == [0, 1, 1, 2, -1]
    assert [one.label for one in many.conditions] == ["≤ 24", "24 – 49", "49 – 74", "> 74"]
    assert (len(many.sets[0]), len(same.sets[0])) == (8, 2)


@given(st.lists(st.none() | st.floats(-100, 100), min_size=1, max_size=60))
def test_bins_are_what_their_conditions_say(values: list[float | None]) -> None:
    known = Numbers(np.array([np.nan if value is None else value for value in values]))
    for feature in features({"x": known}):
        facet = feature.facets[0]
        for row, condition in zip(facet.sets, feature.sets[0], strict=True):
            held = np.append(row, False)[facet.codes]
            np.testing.assert_array_equal(held, mask_of({"x": known}, [condition]))


def test_rare_values_are_no_slices_and_none_given_is_one() -> None:
    codes = np.array([0] * 8 + [1] * 6 + [2] * 2 + [-1] * 5)
    [feature] = features({"metadata.kind": Categories(("a", "b", "rare"), codes)})
    assert [one.label for one in feature.conditions] == ["a", "b", "none given"]
    marks = Marks(("often", "rare"), np.array([[place < 9, place < 2] for place in range(20)]))
    [tagged] = features({"tag": marks})
    assert [one.label for one in tagged.conditions] == ["often"]


def test_numbers_of_repeats_are_averaged_and_of_no_text_there_is_none(tmp_path: Path) -> None:
    outputs = Outputs.from_rows(
        {"case_id": f"c{place}", "model": "m", "run": repeat, "answer": "x" * place * repeat if place else None,
         "retrieved_contexts": ["ab", "c"] if place else []}
        for place in range(6)
        for repeat in (1, 2)
    )  # fmt: skip
    known = known_of_cases(finished(Workspace(tmp_path), text_suite(), outputs, "rouge"), "m")
    numbers = {name: column.values for name, column in known.items() if isinstance(column, Numbers)}
    np.testing.assert_array_equal(numbers["answer_length"], [np.nan, 1.5, 3, 4.5, 6, 7.5])
    np.testing.assert_array_equal(numbers["contexts"], [0, 2, 2, 2, 2, 2])
    assert "context_length" not in numbers  # 3 wherever there are any
    assert isinstance(known["tag"], Marks)


def test_the_table_of_a_run(run: Run, pictures: Run) -> None:
    [row] = slices(run).to_dict("records")
    assert (row["model"], row["evaluator"], row["metric"], row["n"]) == ("m", *BY, PLANTED)
    assert (row["p"], row["p_all"]) == (0.001, 0.001)
    assert json.loads(row["address"])["where"] == [["contexts", 3.0, None], ["tag", "table"]]
    assert table(pictures, "slices")["p_all"].tolist() == [0.003]
    assert table(run, "slices")["slice"].tolist() == [row["slice"]]


def test_the_table_begins_with_the_smallest_p(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two searches; p of both together is twice each."""
    search = find_slices(run, "m", *BY)
    two = [
        replace(search, model=model, slices=(replace(search.slices[0], p=p),))
        for model, p in (("one", 0.02), ("two", 0.004))
    ]
    monkeypatch.setattr(sys.modules[find_slices.__module__], "searches", lambda _: two)
    table = slices(run)
    assert table[["model", "p", "p_all"]].to_numpy().tolist() == [["two", 0.004, 0.008], ["one", 0.02, 0.04]]
    assert table.index.tolist() == [0, 1]


def test_the_reports_section(run: Run, tmp_path: Path) -> None:
    section = ask("where_is_it_worse", run)
    assert section.tables[0].rows == (
        ("m: Classification by text: Accuracy", "0.383", "0.769", "60", "0.001",
         "Questions tagged ‘table’ with more than 3 contexts"),
    )  # fmt: skip
    assert "maximum-statistic permutation test), times 1 search (Bonferroni)" in section.notes[0]
    assert ask("where_is_it_worse", finished(Workspace(tmp_path), text_suite(), text_outputs(), "rouge")) is None


def test_topics_group_questions_alike_and_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bridges and herons, told apart by their words; the answers about herons are bad."""
    asked: list[int] = []

    class Counting(WordVectors):
        def encode(self, texts):
            asked.append(len(texts))
            return super().encode(texts)

    about = ["bridge cable river span", "heron wing river nest"]
    rows = [
        {"case_id": f"c{place}", "question": about[place % 2] + f" {place}", "expected_answers": ["yes"]}
        for place in range(200)
    ]
    answers = [{"case_id": f"c{place}", "model": "m", "answer": "nay" if place % 2 else "yes"} for place in range(200)]
    run = finished(Workspace(tmp_path), Suite.from_rows("topics", "text", rows), Outputs.from_rows(answers), BY[0])
    monkeypatch.setattr("metrics.models.provide", lambda *_: {"embedder": Counting()})
    found = find_slices(run, "m", *BY, by_topic=True)
    own = topics(run)
    assert asked == [200]
    herons = {own.codes[place] for place in range(1, 200, 2)}
    assert herons.isdisjoint({own.codes[place] for place in range(0, 200, 2)})
    worst = found.slices[0].value
    assert worst.value == 0.0
    assert "heron" in worst.words
    assert cases(run, *BY, model="m", within=worst.slice.address).total == worst.n
    assert has_topics(run)


def test_too_few_questions_have_no_topics(tmp_path: Path) -> None:
    run = finished(Workspace(tmp_path), text_suite(), text_outputs(), "rouge")
    assert not has_topics(run)
    with pytest.raises(InputError, match="topics need 80 cases with a question"):
        topics(run)


def test_clusters_of_vectors_and_their_words() -> None:
    rng = np.random.default_rng(0)
    centres = np.eye(5, dtype=np.float32)[:3]
    truth = rng.integers(0, 3, 300)
    vectors = (centres[truth] + 0.05 * rng.normal(size=(300, 5))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes = clustered(vectors, 3)
    assert len({(a, b) for a, b in zip(codes.tolist(), truth.tolist(), strict=True)}) == 3
    assert np.bincount(codes).tolist() == sorted(np.bincount(truth).tolist(), reverse=True)
    np.testing.assert_array_equal(codes, clustered(vectors, 3))
    assert len(set(clustered(np.ones((9, 2), np.float32) / np.sqrt(2), 3).tolist())) == 1
    texts = ["the cat sat", "the cat ran", "the dog ran", "the dog sat", "an owl"]
    words = representative(texts, np.array([0, 0, 1, 1, 2]))
    assert ([own[:1] for own in words], sorted(words[0])) == ([["cat"], ["dog"], []], ["cat", "ran", "sat", "the"])


def test_of_too_few_cases_it_says_what_a_test_takes_though_slices_have_values(tmp_path: Path) -> None:
    run = sliced_run(tmp_path, size=30)
    assert slice_values(run, "m", *BY).features, "bars are drawn"
    said = search_blocks(find_slices(run, "m", *BY))[0].text
    assert said.endswith("none of the slices is tested, as that takes 20 questions in a slice and as many in the rest")
