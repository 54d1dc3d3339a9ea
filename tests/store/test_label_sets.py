"""Labels on disk: sets add up, every run of the same data finds them, the latest of one rater counts."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metrics.core.errors import RunNotFound
from metrics.core.schema import LABELS
from metrics.store import Run, Workspace, rating_sets
from metrics.store.rating_sets import Labels
from metrics.store.stored_facts import OWN
from tests.labels import label, labelled_run


@pytest.fixture(scope="module")
def sealed_run(tmp_path_factory):
    return labelled_run(Workspace(tmp_path_factory.mktemp("labelled")), 8)


def given(run: Run) -> list[tuple[object, ...]]:
    columns = ("case_id", "model", "rater", "criterion", "value", "sampling")
    return [tuple(row[name] for name in columns) for row in Labels(run).table().to_pylist()]


def test_sets_add_up_and_equal_ones_are_one(run):
    first = label(run, "ann", range(3))
    version = Labels(run).version
    assert (label(run, "ann", range(3)), Labels(run).version) == (first, version)
    label(run, "bo", range(2))
    assert Labels(run).version != version
    assert [(one.name, one.kind, one.rows, one.raters, one.criteria) for one in Labels(run).sets()] == [
        ("ann.csv", "upload", 6, 1, ("good",)), ("bo.csv", "upload", 4, 1, ("good",)),
    ]  # fmt: skip
    assert len(given(run)) == 10


def test_every_run_of_the_data_finds_them_and_no_other(run):
    label(run, "ann", range(3))
    assert len(given(labelled_run(Workspace(), 8, name="Again"))) == 6
    assert given(labelled_run(Workspace(), 9)) == []


def test_a_later_label_takes_the_place_of_the_earlier(run):
    labels = Labels(run)
    labels.give("c0", "long", "ann", "good", 1.0, "drawn")
    labels.give("c1", "long", "ann", "good", None, "picked")
    labels.give("c0", "long", "ann", "good", 0.0, "drawn")
    labels.give("c0", "long", "bo", "good", 1.0, "drawn")
    assert given(run) == [
        ("c1", "long", "ann", "good", None, "picked"), ("c0", "long", "ann", "good", 0.0, "drawn"),
        ("c0", "long", "bo", "good", 1.0, "drawn"),
    ]  # fmt: skip
    assert [(one.name, one.kind, one.rows) for one in labels.sets()] == [("ann", "page", 2), ("bo", "page", 1)]


def upload(run: Run, value: float, name: str = "ann.csv") -> str:
    """Add ann's label of one output, of the file `name`."""
    row = {"case_id": "c0", "model": "long", "rater": "ann", "criterion": "good", "value": value, "sampling": "random"}
    return Labels(run).add(pa.Table.from_pylist([row | {"given": rating_sets.now()}], LABELS), name)


def page(run: Run, value: float, case_id: str = "c0") -> None:
    Labels(run).give(case_id, "long", "ann", "good", value, "drawn")


def value_of(run: Run) -> object:
    return next(row[4] for row in given(run) if row[:3] == ("c0", "long", "ann"))


def test_the_label_added_last_counts_whether_it_was_uploaded_or_given_on_the_page(run):
    page(run, 1.0)
    upload(run, 0.0)
    page(run, 1.0, "c1")  # of another output: what was uploaded still counts for the first
    assert value_of(run) == 0.0
    page(run, 1.0)
    assert value_of(run) == 1.0
    upload(run, 0.0)  # the same file again
    assert (value_of(run), len(Labels(run).sets())) == (0.0, 2)
    upload(run, 1.0, "later.csv")
    assert value_of(run) == 1.0


def test_a_clock_that_goes_back_changes_nothing(run, monkeypatch):
    for day, add in enumerate((upload, page, upload)):
        monkeypatch.setattr(rating_sets, "now", lambda day=day: f"2026-01-{28 - day:02d}T00:00:00+00:00")
        add(run, float(day % 2))
        assert value_of(run) == day % 2
    assert [one.kind for one in Labels(run).sets()] == ["page", "upload"], "in the order in which they were added"


def older(path: Path) -> None:
    """Store a set as earlier versions did: without numbers, and without a checksum."""
    table = pq.read_table(path).drop_columns(["number"])
    facts = {name: text for name, text in table.schema.metadata.items() if name.decode() != OWN}
    pq.write_table(table.replace_schema_metadata(facts), path)


def test_labels_of_earlier_versions_are_read_by_their_times_and_count_before_new_ones(run, monkeypatch):
    monkeypatch.setattr(rating_sets, "now", lambda: "2026-01-01T00:00:00+00:00")
    page(run, 1.0)
    monkeypatch.setattr(rating_sets, "now", lambda: "2026-01-02T00:00:00+00:00")
    upload(run, 0.0)
    for path in Labels(run).folder.glob("*.parquet"):
        older(path)
    assert value_of(run) == 0.0
    monkeypatch.setattr(rating_sets, "now", lambda: "2025-01-01T00:00:00+00:00")
    page(run, 1.0, "c1")
    assert value_of(run) == 0.0
    page(run, 1.0)
    assert value_of(run) == 1.0


def test_a_label_can_be_taken_back(run):
    labels = Labels(run)
    labels.give("c0", "long", "ann", "good", 1.0, "drawn")
    labels.give("c1", "long", "ann", "good", 1.0, "drawn")
    labels.withdraw("c0", "long", "ann", "good")
    labels.withdraw("c0", "long", "nobody", "good")
    assert [row[0] for row in given(run)] == ["c1"]
    labels.withdraw("c1", "long", "ann", "good")
    assert labels.sets() == []


def test_a_set_can_be_removed(run):
    one, other = label(run, "ann", range(3)), label(run, "bo", range(3))
    Labels(run).remove(one)
    assert {row[2] for row in given(run)} == {"bo"}
    with pytest.raises(RunNotFound) as failure:
        Labels(run).remove("../../etc")
    assert str(failure.value) == f"there is no set of labels '../../etc'; there are {other}"


def test_no_half_written_set_is_read(run):
    label(run, "ann", range(3))
    (Labels(run).folder / ".upload-0.parquet.99.part").write_bytes(b"half")
    assert (len(given(run)), Labels(run).table().schema) == (6, LABELS)
    assert isinstance(Labels(run).table(), pa.Table)
