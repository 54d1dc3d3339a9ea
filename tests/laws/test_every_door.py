"""Same data, every door: whatever form data comes in, and wherever it is given, it is read and scored the same."""

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from metrics import ingest
from metrics.core.suite import Outputs, Suite
from tests.laws.doors import DATA, differences, facts_of, output_rows, suite_rows
from tests.laws.forms import FORMS, SHAPES, can_hold

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEED = 20
FORMS_EACH = 2  # of a shape of data in `make test`; all in `make test-long`


def read(suite: Any, outputs: Any) -> tuple[Suite, Outputs]:
    """Return what the readers make of two files, or of two tables in memory."""
    if isinstance(suite, Path):
        read = ingest.read_suite(suite)
        return read, ingest.read_outputs(outputs, suite=read)
    read = ingest.suite_from_frame(suite)
    return read, ingest.outputs_from_frame(outputs, suite=read)


def reading_cases() -> Iterator[Any]:
    """Yield the name of data, of a shape that it can have, and of the forms to write it in."""
    for name, shape in product(DATA, SHAPES):
        random = Random(f"{SEED} {name} {shape}")
        data = DATA[name](random)
        rows = suite_rows(data), output_rows(data)
        shaped = [SHAPES[shape](own, random) for own in rows]
        if shape == "as it is" or tuple(shaped) != rows:
            able = [form for form in FORMS if all(can_hold(form, shape, own) for own in shaped)]
            chosen = able if LONG else random.sample(able, min(FORMS_EACH, len(able)))
            yield pytest.param(name, shape, chosen, id=f"{name}, {shape}")


@pytest.mark.parametrize(("name", "shape", "forms"), [*reading_cases()])
def test_reads_the_same(name: str, shape: str, forms: list[str], tmp_path: Path) -> None:
    """A suite and outputs, read from any form and shape, are those that the records make without a reader."""
    random = Random(f"{SEED} {name} {shape}")
    data = DATA[name](random)
    rows = [SHAPES[shape](own, random) for own in (suite_rows(data), output_rows(data))]
    wanted = facts_of(*data.tables())
    found = {}
    for form in forms:
        suite, outputs = (
            FORMS[form](own, tmp_path / role) for own, role in zip(rows, ("suite", "outputs"), strict=True)
        )
        found[form] = differences(wanted, facts_of(*read(suite, outputs)))
    assert found == {form: [] for form in forms}
