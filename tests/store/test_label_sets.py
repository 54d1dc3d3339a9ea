"""Labels on disk: sets add up, every run of the same data finds them, the latest of one rater counts."""

import pyarrow as pa
import pytest

from metrics.core.errors import RunNotFound
from metrics.core.label_schema import LABELS
from metrics.store import Run, Workspace
from metrics.store.label_sets import Labels
from tests.labels import label, labelled_run


@pytest.fixture
def run(workspace: object) -> Run:
    return labelled_run(Workspace(), 8)


def given(run: Run) -> list[tuple[object, ...]]:
    columns = ("case_id", "model", "rater", "criterion", "value", "sampling")
    return [tuple(row[name] for name in columns) for row in Labels(run).table().to_pylist()]


def test_without_labels_there_is_nothing(run: Run) -> None:
    assert (Labels(run).sets(), Labels(run).table().num_rows, Labels(run).version) == ([], 0, "")


def test_sets_add_up_and_equal_ones_are_one(run: Run) -> None:
    first = label(run, "ann", range(3))
    version = Labels(run).version
    assert label(run, "ann", range(3)) == first
    assert Labels(run).version == version
    label(run, "bo", range(2))
    assert Labels(run).version != version
    assert [(one.name, one.kind, one.labels, one.raters, one.criteria) for one in Labels(run).sets()] == [
        ("ann.csv", "upload", 6, 1, ("good",)), ("bo.csv", "upload", 4, 1, ("good",)),
    ]  # fmt: skip
    assert len(given(run)) == 10


def test_every_run_of_the_data_finds_them_and_no_other(run: Run) -> None:
    label(run, "ann", range(3))
    assert len(given(labelled_run(Workspace(), 8, name="Again"))) == 6
    assert given(labelled_run(Workspace(), 9)) == []


def test_a_later_label_takes_the_place_of_the_earlier(run: Run) -> None:
    labels = Labels(run)
    labels.give("c0", "long", "ann", "good", 1.0, "drawn")
    labels.give("c1", "long", "ann", "good", None, "picked")
    labels.give("c0", "long", "ann", "good", 0.0, "drawn")
    labels.give("c0", "long", "bo", "good", 1.0, "drawn")
    assert given(run) == [
        ("c0", "long", "ann", "good", 0.0, "drawn"),
        ("c1", "long", "ann", "good", None, "picked"),
        ("c0", "long", "bo", "good", 1.0, "drawn"),
    ]
    assert [(one.name, one.kind, one.labels) for one in labels.sets()] == [("ann", "page", 2), ("bo", "page", 1)]


def test_a_label_can_be_taken_back(run: Run) -> None:
    labels = Labels(run)
    labels.give("c0", "long", "ann", "good", 1.0, "drawn")
    labels.give("c1", "long", "ann", "good", 1.0, "drawn")
    labels.withdraw("c0", "long", "ann", "good")
    labels.withdraw("c0", "long", "nobody", "good")
    assert [row[0] for row in given(run)] == ["c1"]
    labels.withdraw("c1", "long", "ann", "good")
    assert labels.sets() == []


def test_a_set_can_be_removed(run: Run) -> None:
    one, other = label(run, "ann", range(3)), label(run, "bo", range(3))
    Labels(run).remove(one)
    assert {row[2] for row in given(run)} == {"bo"}
    with pytest.raises(RunNotFound) as failure:
        Labels(run).remove("../../etc")
    assert str(failure.value) == f"there is no set of labels '../../etc'; there are {other}"


def test_no_half_written_set_is_read(run: Run) -> None:
    label(run, "ann", range(3))
    (Labels(run).folder / ".upload-0.parquet.99.part").write_bytes(b"half")
    assert len(given(run)) == 6
    assert Labels(run).table().schema == LABELS
    assert isinstance(Labels(run).table(), pa.Table)
