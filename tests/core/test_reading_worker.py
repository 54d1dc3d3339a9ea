"""Calls in a process of their own: what they return, and what becomes of those that do not end well."""

import os
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from metrics.core.errors import InputError
from metrics.core.reading_worker import Limits, read_in_worker
from metrics.ingest import inspect, load_suite
from tests.endless_calls import end_process, endless, fill_memory, return_command

SUITE = Path("data/samples/agents/suite.csv").resolve()
SMALL = Limits(0.5, 1 << 30)


@pytest.mark.parametrize("read", [inspect, load_suite], ids=lambda read: read.__name__)
def test_what_is_read_is_the_same_as_here(read):
    there, here = read_in_worker("suite.csv", partial(read, SUITE), Limits()), read(SUITE)
    if read is inspect:
        assert there == here
    else:
        assert there.value.fingerprint == here.value.fingerprint
        assert there.value.cases.equals(here.value.cases)
        assert (there.value.receipt, there.notes) == (here.value.receipt, here.notes)


def test_problems_come_back_as_they_are(tmp_path):
    (tmp_path / "s.csv").write_text("a,a\n1,2\n")
    with pytest.raises(InputError) as here:
        inspect(tmp_path / "s.csv")
    with pytest.raises(InputError) as there:
        read_in_worker("s.csv", partial(inspect, tmp_path / "s.csv"), Limits())
    assert (there.value.problems, str(there.value)) == (here.value.problems, str(here.value))


ENDS = {
    "never": (partial(endless, 1), "f.csv: found a file that was not read within 0.5 s"),
    "out of memory": (fill_memory, "f.csv: found a file that takes more than 1,024 MiB to read"),
    "a crash": (end_process, "f.csv: found a file that ends the process that reads it"),
}


@pytest.mark.attack(
    "suite author",
    "a file keeps C code of a reader busy for ever, fills its memory or crashes it",
    "a reader of the studio has a process with limits of time and memory, and the page lives on",
)
@pytest.mark.parametrize("how", ENDS)
def test_a_reader_that_does_not_end_well_is_a_problem_of_its_file(how):
    call, said = ENDS[how]
    limits = SMALL if how == "never" else Limits(60, 1 << 30)
    with pytest.raises(InputError) as failure:
        read_in_worker("f.csv", call, limits)
    assert str(failure.value).startswith(said)
    assert read_in_worker("f.csv", partial(inspect, SUITE), Limits()).format == "csv"


def test_what_watches_can_end_it():
    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_in_worker("f.csv", partial(endless, 1), Limits(), stop)


@pytest.mark.attack(
    "suite author",
    "a file that has taken a reader over has it return a call in place of data",
    "what a worker returns is data of a few types, and its arrays are checked",
)
def test_a_result_is_no_call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"f\.csv: found a file whose reader does not return data"):
        read_in_worker("f.csv", return_command, Limits())
    assert not os.listdir(tmp_path)


def test_arrays_of_a_result_are_checked():
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff"))
    with pytest.raises(InputError, match=r"f\.csv: found a file whose reader does not return data"):
        read_in_worker("f.csv", partial(pa.table, {"a": broken}), Limits())


def test_a_pdf_within_a_reader_has_a_process_of_its_own():
    with pytest.raises(InputError, match=r"inner\.pdf: found a file that was not read within 0\.5 s"):
        read_in_worker("outer.zip", partial(read_in_worker, "inner.pdf", partial(endless, 1), SMALL), Limits())
