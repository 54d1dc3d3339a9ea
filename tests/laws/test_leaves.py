"""Law: each value of an upload changes what is read, or is refused, or the receipt says that it is not used.

So nothing is lost in silence, whatever reader takes the file.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from metrics.core.errors import InputError
from metrics.core.receipt import Receipt, ReceiptLine
from metrics.core.suite import Outputs, Suite
from metrics.ingest import Loaded, load_combined, load_outputs, load_suite
from tests.fuzz.reader_seeds import SEEDS
from tests.fuzz.reader_targets import good_suites
from tests.fuzz.target import Input
from tests.laws.leaves import leaves, packed, strays

# Readers of which not every leaf is accounted for yet, with the leaves; none may be added.
OPEN: dict[str, set[str]] = {}
# Entries that no reader knows, and that count as used: they stand beside what a column has, and are equal to it.
VALUES = "resourceSpans.scopeSpans.spans.attributes.value" + ".arrayValue.values.kvlistValue.values.value" * 2
IN_TRACES = {
    "zq9", "output.zq9", "choices.message.zq9", "tool_calls.function.zq9", f"{VALUES}.zq9",
    f"{VALUES.removesuffix('.value')}.zq9", f"{VALUES}.kvlistValue.values.zq9",
}  # fmt: skip
BESIDE: dict[str, set[str]] = {
    "inspect_json": {"samples.scores.match.zq9"}, "lm_eval": {"arguments.gen_args_0.zq9"},
    "openai_evals_log": {"data.zq9"}, "braintrust": {"expected.zq9"}, "phoenix": {"attributes.retrieval.documents.zq9"},
    "langsmith": {"inputs.messages.kwargs.zq9", "outputs.documents.zq9", "reference_outputs.zq9"},
    "langfuse": {f"{side}{call}.zq9" for side in ("input", "output") for call in ("", ".tool_calls.function")},
    "trace_document": IN_TRACES,
    "jsonl": {f"trace.{path}" for path in (*IN_TRACES, "messages.zq9", "messages.tool_calls.function.zq9")},
}  # fmt: skip
TABLES = (  # readers of records, which other forms hold, too
    "csv", "json", "jsonl", "langfuse", "langsmith", "braintrust", "phoenix", "lm_eval", "openai_evals_data", "opik",
    "mlflow",
)  # fmt: skip
Read = Callable[[Path], Loaded[Any]]
Readings = dict[Read, tuple[str, Receipt]]  # what it read, as a text, and the receipt


def ways() -> dict[str, Read]:
    """Every way to read an upload."""
    outputs = {
        f"outputs of {name}": lambda path, suite=suite: load_outputs(path, suite=suite, keep_unknown_classes=True)
        for name, suite in good_suites().items()
    }
    classes = partial(load_suite, task="classification")
    return {"suite": load_suite, "classes": classes, "combined": load_combined, **outputs}


def result(read: Read, given: Input, data: bytes, folder: Path) -> tuple[str, Receipt] | None:
    """What is read, as a text that differs where anything does, and its receipt; None where it is refused."""
    path = folder / given.name
    path.write_bytes(data)
    try:
        value = read(path).value
    except InputError:
        return None
    parts = value if isinstance(value, tuple) else (value,)
    return " ".join(map(_facts, parts)), tuple(line for part in parts for line in part.receipt)


def _facts(part: Suite | Outputs) -> str:
    if isinstance(part, Suite):
        return f"{part.fingerprint} {part.category_ids} {part.name}"
    return part.fingerprint


def is_named(path: str, receipt: Receipt) -> bool:
    """Whether the receipt says that what is at a path is not used, or was decided."""
    inside = f".{_plain(path)}."
    return any(
        f".{place}." in inside
        for line in receipt
        if line.use in ("unused", "asked")
        for place in _places(line)
        if place
    )


def _places(line: ReceiptLine) -> Iterator[str]:
    """Yield the forms in which paths have the place of a line, with the file in an archive or without."""
    yield _plain(line.place)
    yield _plain(f"{line.file}.{line.place}".partition("/")[2])
    if line.place.startswith(("*.", "split ")):  # files that are not read: the first of them is the example
        yield _plain(line.example)


def _plain(place: str) -> str:
    return re.sub(r"\[\w*\]", "", place).strip(".")


def readings(given: Input, folder: Path) -> Readings:
    """What each way makes of an upload that reads it."""
    return {way: found for way in ways().values() if (found := result(way, given, given.data, folder))}


def receipts_if_same(given: Input, changed: bytes, before: Readings, folder: Path) -> list[Receipt]:
    """The receipts of an upload with another value in it; none where a way refuses it, or reads something else."""
    after = [(read, result(way, given, changed, folder)) for way, (read, _) in before.items()]
    same = [found[1] for read, found in after if found and found[0] == read]
    return same if len(same) == len(after) else []


def lost_leaves(given: Input, folder: Path, before: Readings) -> Iterator[str]:
    """Yield the paths of an upload that no way to read it uses, refuses or names."""
    for path, change in leaves(given):
        receipts = receipts_if_same(given, change(), before, folder)
        if receipts and not any(is_named(path, receipt) for receipt in receipts):
            yield path


@pytest.mark.parametrize("name", SEEDS)
def test_no_leaf_is_lost(name: str, tmp_path: Path) -> None:
    read = [(given, readings(given, tmp_path)) for given in SEEDS[name]]
    assert all(before for _, before in read), "no way to read it"
    assert {path for given, before in read for path in lost_leaves(given, tmp_path, before)} == OPEN.get(name, set())


@pytest.mark.parametrize("form", ["parquet", "arrow", "xlsx", "gz"])
@pytest.mark.parametrize("name", TABLES)
def test_no_leaf_is_lost_in_another_form(name: str, form: str, tmp_path: Path) -> None:
    """An upload whose records a form can hold is read from that form as well, and accounted for as well."""
    made = [other for given in SEEDS[name] if (other := packed(given, form))]
    read = [(given, before) for given in made if (before := readings(given, tmp_path))]
    assert read or form == "xlsx" or not made
    assert {path for given, before in read for path in lost_leaves(given, tmp_path, before)} == set()


@pytest.mark.parametrize("name", SEEDS)
def test_no_leaf_counts_as_used_for_a_value_elsewhere(name: str, tmp_path: Path) -> None:
    lost: set[str] = set()
    for path, given, change in (stray for seed in SEEDS[name] for stray in strays(seed)):
        before = readings(given, tmp_path)
        named = any(is_named(path, receipt) for _, receipt in before.values())
        if not named and receipts_if_same(given, change(), before, tmp_path):
            lost.add(path)
    assert lost == BESIDE.get(name, set())


LINES = [
    ("coco_ground_truth", "suite", "annotations[].attributes.occluded (3) is not used: nothing that is evaluated has "
     "this name, such as 'False'"),
    ("coco_ground_truth", "suite", "annotations[].bbox (3) is x, y, width, height"),
    ("coco_ground_truth", "suite", "info.year (1) is not used: it describes the data set, such as '2024'"),
    ("braintrust", "combined", "root_span_id (2) is not used: no column has it, such as 'x'"),
    ("inspect_json", "combined", "samples[].output.model (2) is not used: no column has it, such as 'm'"),
    ("trace_lines", "combined", "attributes[].value.intValue (1) is not used: no column has it, such as '999'"),
    ("labelme_xml", "suite", "annotation.object.polygon.pt.x (20) is polygons"),
    ("detector_json", "suite", "scores (6) is not used: ground truth has none, such as '0.9'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "way", "line"), LINES)
def test_a_line_says_count_reason_and_example(name: str, way: str, line: str, tmp_path: Path) -> None:
    given = SEEDS[name][-1]
    found = result(ways()[way], given, given.data, tmp_path)
    assert found is not None
    assert f"{given.name}: {line}" in [str(each) for each in found[1]]
