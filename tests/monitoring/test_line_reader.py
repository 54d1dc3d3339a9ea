"""Reading lines: the sample, hostile lines, places to go on from."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from scipy import stats

from metrics.monitoring import line_reader
from metrics.monitoring.line_reader import Place, Record, Sampler, file_blocks, id_names, mark, pipe_blocks, sampled
from tests.monitoring.monitor_scenes import line, write

EVERY = Sampler(1.0)
OBJECT = line_reader.OBJECT
Bad = list[tuple[int, str, str]]


def read(
    path: Path, sampler: Sampler = EVERY, place: Place | None = None, ends: bool = False
) -> tuple[list[Record], Place, Bad]:
    bad: Bad = []
    place = Place() if place is None else place
    with path.open("rb") as stream:
        lines = sampled(
            file_blocks(stream, place.offset), place, sampler, id_names(None), lambda *said: bad.append(said), ends=ends
        )
        return [record for record in lines if record is not None], place, bad


class TestTheSample:
    def test_it_is_the_same_in_every_replay_and_order(self, tmp_path: Path) -> None:
        lines = [line(index) for index in range(2_000)]
        forth = read(write(tmp_path / "a.jsonl", lines), Sampler(0.1, 7))[0]
        back = read(write(tmp_path / "b.jsonl", lines[::-1]), Sampler(0.1, 7))[0]
        assert {record.id for record in forth} == {record.id for record in back}
        assert {record.id for record in forth} != {
            record.id for record in read(tmp_path / "a.jsonl", Sampler(0.1, 8))[0]
        }

    def test_its_size_and_its_spread_are_those_of_chance(self) -> None:
        """200 seeds, 1,000 ids at 5 %: binomial counts, their dispersion too; every id as often as another."""
        ids = [f"user-{index}" for index in range(1_000)]
        taken = [[Sampler(0.05, seed).takes(id) for id in ids] for seed in range(200)]
        by_seed = [sum(row) for row in taken]
        by_id = [sum(column) for column in zip(*taken, strict=True)]
        assert stats.binomtest(sum(by_seed), 200_000, 0.05).pvalue > 1e-4
        for counts, n in ((by_seed, 1_000), (by_id, 200)):
            dispersion = sum((count - n * 0.05) ** 2 for count in counts) / (n * 0.05 * 0.95)
            assert 1e-4 < stats.chi2.cdf(dispersion, len(counts)) < 1 - 1e-4

    def test_a_higher_rate_takes_all_that_a_lower_one_takes(self) -> None:
        ids = [str(index) for index in range(3_000)]
        low = {id for id in ids if Sampler(0.01, 3).takes(id)}
        assert low < {id for id in ids if Sampler(0.2, 3).takes(id)}
        assert all(EVERY.takes(id) for id in ids)


@pytest.mark.parametrize(("text", "id", "named"), [
    pytest.param(b'{"id": "a", "answer": "x"}', "a", True, id="id"),
    pytest.param(b'{"answer": "x", "case_id": "c", "id": "a"}', "c", True, id="case_id goes first"),
    pytest.param(b'{"requestId": "r", "answer": "x"}', "r", True, id="camel case"),
    pytest.param(b'{"id": 17, "answer": "x"}', "17", True, id="a number"),
    pytest.param(b'{"id": null, "trace_id": "t"}', "t", True, id="null is none"),
    pytest.param(b'{"id": "", "key": "k"}', "k", True, id="empty is none"),
    pytest.param(b'\xef\xbb\xbf{"id": "a"}', "a", True, id="a byte-order mark"),
    pytest.param(b'  {"id": "a"}\r', "a", True, id="blanks around"),
    pytest.param(b'{"answer": "x"}', "line:", False, id="none: its content"),
])  # fmt: skip
def test_the_id(tmp_path: Path, text: bytes, id: str, named: bool) -> None:
    records, _, bad = read(write(tmp_path / "a.jsonl", [text]))
    assert (len(records), bad) == (1, [])
    assert records[0].named is named
    assert records[0].id == id if named else records[0].id.startswith(id)


def test_an_id_of_ones_own(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"id": "a", "session": "s"}])
    with path.open("rb") as stream:
        records = list(sampled(file_blocks(stream, 0), Place(), EVERY, id_names("session"), print, ends=True))
    assert [record.id for record in records if record] == ["s"]


@pytest.mark.parametrize(("text", "found"), [
    pytest.param(b'{"id": "a", "answer": "\x00"}', "JSON is malformed: invalid character", id="NUL"),
    pytest.param(b'{"id": "a", "answer": "\xff"}', "str is not valid UTF-8", id="no UTF-8"),
    pytest.param(b"[" * 100_000 + b"]" * 100_000, "Expected `object`, got `array`", id="an array"),
    pytest.param(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "values nested too deeply", id="nested too deeply"),
    pytest.param(b'{"id": "a"', "Input data was truncated", id="cut"),
    pytest.param(b'{"id": "a"} x', "JSON is malformed: trailing characters", id="more behind"),
    pytest.param(b'{"id": true}', "Expected `int | str | null`, got `bool` - at `$.id`", id="no id"),
    pytest.param(b'{"id": "\\ud800"}', "Input data was truncated", id="half a surrogate"),
    pytest.param(b"\x1f\x8b\x08\x00", "JSON is malformed: invalid character", id="gzip"),
])  # fmt: skip
def test_bad_lines_are_told_and_passed_over(tmp_path: Path, text: bytes, found: str) -> None:
    records, place, bad = read(write(tmp_path / "a.jsonl", [line(1), text, line(2)]))
    assert [record.line for record in records] == [1, 3]
    assert [(number, expected) for number, _, expected in bad] == [(2, OBJECT)]
    assert bad[0][1].startswith(found)
    assert place.read == 3


def test_a_line_too_long_is_passed_over_without_being_held(tmp_path: Path) -> None:
    size = 10_000_000
    path = write(tmp_path / "a.jsonl", [line(1), b'{"id": "big", "answer": "' + b"x" * size + b'"}', line(2)])
    records, place, bad = read(path)
    assert [record.id for record in records] == ["r-00001", "r-00002"]
    assert bad == [(2, "10,000,027 bytes", "lines of at most 8,388,608 bytes")]
    assert place.offset == path.stat().st_size


def test_too_many_fields(tmp_path: Path) -> None:
    _, _, bad = read(write(tmp_path / "a.jsonl", [{"id": "a"} | {f"f{index}": 1 for index in range(1_000)}]))
    assert bad == [(1, "1,001 fields", "at most 1,000")]


@pytest.mark.parametrize("cut", [b"", b"\n", b"\n\n \n"])
def test_blank_lines_count_as_lines_and_not_as_read(tmp_path: Path, cut: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id": "a"}\n' + cut + b'{"id": "b"}\n')
    records, place, _ = read(path)
    assert (records[1].line, place.read) == (2 + cut.count(b"\n"), 2)


class TestPlaces:
    def test_a_place_goes_on_at_every_line(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", [line(index) for index in range(5)])
        whole = [(record.line, record.id) for record in read(path)[0]]
        for stop in range(6):
            place = Place()
            with path.open("rb") as stream:
                lines: Iterator[Record | None] = sampled(
                    file_blocks(stream, 0), place, EVERY, id_names(None), print, ends=False
                )
                first = [next(lines) for _ in range(stop)]
            rest, after, _ = read(path, place=Place(place.offset, place.line))
            assert [(record.line, record.id) for record in [*first, *rest] if record] == whole
            assert after.offset == path.stat().st_size

    def test_a_whole_last_line_is_read_without_its_break_and_not_again_with_it(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", [line(0), line(1)], end=b"")
        records, place, _ = read(path)
        assert (len(records), place.line, place.open) == (2, 2, True)
        with path.open("ab") as stream:
            stream.write(b"\n" + json.dumps(line(2)).encode() + b"\n")
        records, place, bad = read(path, place=place)
        assert ([(record.id, record.line) for record in records], place.open, bad) == ([("r-00002", 3)], False, [])

    def test_an_unfinished_last_line_is_left_for_the_next_time(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", [line(0), b'{"id": "b", "ans'], end=b"")
        records, place, bad = read(path)
        assert (len(records), place.line, place.left, bad) == (1, 1, 16, [])
        with path.open("ab") as stream:
            stream.write(b'wer": "x"}\n')
        assert [record.id for record in read(path, place=place)[0]] == ["b"]

    def test_at_the_end_of_a_pipe_it_is_a_bad_line(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", [line(0), b'{"id": "b", "ans'], end=b"")
        assert read(path, ends=True)[2] == [(2, "Input data was truncated", OBJECT)]

    def test_a_file_is_known_by_what_was_read_of_it(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", [line(index) for index in range(500)])
        offset = path.stat().st_size
        before = mark(path, offset)
        with path.open("ab") as stream:
            stream.write(b'{"id": "more"}\n')
        path = path.rename(tmp_path / "a.jsonl.1")
        assert mark(path, offset) == before
        data = path.read_bytes()
        path.write_bytes(data[: offset - 5] + b"#" + data[offset - 4 :])
        assert mark(path, offset) != before
        path.write_bytes(data[:100])
        assert mark(path, offset) is None


def test_a_pipe_says_when_it_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_reader, "IDLE_SECONDS", 0.01)
    out, into = os.pipe()
    blocks = pipe_blocks(out)
    assert next(blocks) is None
    os.write(into, b'{"id": 1}\n')
    assert next(blocks) == b'{"id": 1}\n'
    os.close(into)
    assert list(blocks) == []
    os.close(out)
