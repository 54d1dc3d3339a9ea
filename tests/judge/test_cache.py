"""The judge's cache: what it keeps, what it refuses, what it tells, how it travels."""

import gzip
import pickle
import sqlite3
import stat
import time
from dataclasses import replace

import pytest

from metrics.core.errors import CacheRefused, InputError
from metrics.judge.cache import Cache, Replay, Stored

KEYS = [digit * 64 for digit in "abcdef"]
SAID = Stored("judge", "claims", '{"claims": ["Ünicode"]}', False, 100, 20, 0.001, 0.5, 1_700_000_000.0)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "judge")


def filled(cache: Cache) -> Cache:
    """Four replies: two judges, two steps, two ages."""
    cache.put(KEYS[0], SAID)
    cache.put(KEYS[1], replace(SAID, step="entailment", cost_usd=None))
    cache.put(KEYS[2], replace(SAID, judge="another", at=time.time()))
    cache.put(KEYS[3], replace(SAID, judge="another", step="entailment", at=time.time()))
    return cache


def raw(cache: Cache) -> sqlite3.Connection:
    cache.close()
    return sqlite3.connect(cache.folder / "cache.db")


def test_a_big_reply_comes_back_from_one_file_that_only_its_owner_reads(cache):
    big = replace(SAID, reply="x" * 3_000_000)
    assert cache.get(KEYS[0]) is None
    cache.put(KEYS[0], big)
    cache.close()
    assert Cache(cache.folder).get(KEYS[0]) == big
    assert {entry.name.split("-")[0] for entry in cache.folder.iterdir()} == {"cache.db"}
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700


class Trap:
    """An object whose pickle runs what it says."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("(_ for _ in ()).throw(SystemExit('unpickled'))",)


@pytest.mark.parametrize(("columns", "found"), [
    pytest.param({"mode": 4, "value": pickle.dumps(Trap())}, "a pickled object", id="pickle"),
    pytest.param({"mode": 4, "value": None, "filename": "trap.val"}, "a pickled object", id="pickle in a file"),
    pytest.param({"mode": 3, "value": None, "filename": "../../passwd"}, "a value of mode 3", id="text in a file"),
    pytest.param({"mode": 1, "value": b"{}"}, "a value of mode 1", id="bytes"),
])  # fmt: skip
@pytest.mark.attack(
    "workspace writer", "a pickle in the judge's cache", "rows are JSON text; any other is refused unread"
)
def test_a_row_of_any_other_kind_is_refused_unread(cache, columns, found):
    filled(cache)
    with raw(cache) as database:
        for name, value in columns.items():
            database.execute(f"UPDATE Cache SET {name} = ? WHERE key = ?", (value, KEYS[0]))
    database.close()
    for use in (lambda: cache.get(KEYS[0]), lambda: list(cache.rows()), cache.statistics):
        with pytest.raises(CacheRefused, match=f"holds {found} where only JSON text is ever written"):
            use()


@pytest.mark.attack("workspace writer", "a pickled key in the judge's cache", "it is refused unread")
def test_a_pickled_key_is_refused_unread(cache):
    filled(cache)
    with raw(cache) as database:
        database.execute("UPDATE Cache SET raw = 0, key = ? WHERE key = ?", (pickle.dumps(Trap()), KEYS[0]))
    database.close()
    with pytest.raises(CacheRefused, match="a key that is not text"):
        list(cache.rows())


@pytest.mark.parametrize("text", ["{}", "nonsense", '{"judge": 1, "step": "s", "reply": "r"}'])
@pytest.mark.attack("workspace writer", "JSON in the judge's cache that is no reply", "it is refused by name")
def test_json_that_is_no_reply_is_refused(cache, text):
    filled(cache)
    with raw(cache) as database:
        database.execute("UPDATE Cache SET value = ? WHERE key = ?", (text, KEYS[0]))
    database.close()
    with pytest.raises(CacheRefused, match="holds a row that is no reply of a judge"):
        cache.get(KEYS[0])


def test_a_file_that_is_no_database_is_said_to_be_none(cache):
    cache.folder.mkdir()
    (cache.folder / "cache.db").write_bytes(b"not a database, by any means" * 100)
    with pytest.raises(CacheRefused, match="cannot be used: file is not a database"):
        cache.get(KEYS[0])


def test_nothing_is_ever_evicted(cache):
    for number in range(300):
        cache.put(f"{number:064x}", replace(SAID, reply="x" * 10_000))
    assert all(cache.get(f"{number:064x}") for number in range(300))
    cache.close()
    settings = dict(raw(cache).execute("SELECT key, value FROM Settings"))
    assert (settings["eviction_policy"], settings["cull_limit"]) == ("none", 0)


def test_it_says_what_it_holds_and_what_it_has_spared(cache):
    filled(cache)
    for key in (KEYS[0], KEYS[0], KEYS[1], KEYS[4]):
        cache.get(key)
    cache.close()
    found = Cache(cache.folder).statistics()
    assert (found.replies, found.hits, found.misses) == (4, 3, 1)
    assert (found.saved_tokens, found.saved_usd, found.unpriced_hits) == (360, pytest.approx(0.002), 1)
    assert found.steps == (
        ("another", "claims", 1), ("another", "entailment", 1), ("judge", "claims", 1), ("judge", "entailment", 1),
    )  # fmt: skip
    assert found.bytes > 0


def test_an_empty_cache_says_so_and_makes_no_folder(cache):
    assert (cache.statistics().replies, cache.clear()) == (0, 0)
    cache.close()
    assert not cache.folder.exists()


@pytest.mark.parametrize(("conditions", "left"), [
    ({}, []), ({"judge": "judge"}, [2, 3]), ({"step": "claims"}, [1, 3]),
    ({"judge": "judge", "step": "claims"}, [1, 2, 3]), ({"older_than_days": 1}, [2, 3]),
    ({"judge": "nobody"}, [0, 1, 2, 3]),
])  # fmt: skip
def test_it_is_cleared_by_judge_step_and_age(cache, conditions, left):
    filled(cache)
    assert cache.clear(**conditions) == 4 - len(left)  # type: ignore[arg-type]
    assert [key for key, _ in cache.rows()] == [KEYS[place] for place in left]


@pytest.mark.parametrize("name", ["replies.jsonl", "replies.jsonl.gz"])
def test_it_travels_as_one_file(cache, tmp_path, name):
    filled(cache)
    assert cache.export(tmp_path / name) == 4
    other = Cache(tmp_path / "other")
    assert (other.take(tmp_path / name), list(other.rows())) == (4, list(cache.rows()))
    replay = Replay(tmp_path / name)
    assert replay.get(KEYS[0]) == SAID
    assert replay.get(KEYS[5]) is None
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")


def test_the_replies_of_one_run_travel_alone(cache, tmp_path):
    assert filled(cache).export(tmp_path / "some.jsonl", {KEYS[1], KEYS[5]}) == 1
    assert Replay(tmp_path / "some.jsonl").get(KEYS[0]) is None


HEAD = '{"assay": "judge replies", "version": 1}\n'


@pytest.mark.parametrize(("content", "row"), [
    pytest.param(b"", 1, id="empty"),
    pytest.param(b"case_id,answer\n1,a\n", 1, id="another format"),
    pytest.param(b'{"assay": "judge replies", "version": 2}\n', 1, id="a later version"),
    pytest.param((HEAD + '{"key": "short", "reply": "x"}\n').encode(), 2, id="a key that is none"),
    pytest.param((HEAD + f'{{"key": "{KEYS[0]}", "reply": 3}}\n').encode(), 2, id="a reply that is none"),
    pytest.param((HEAD + "[1]\n").encode(), 2, id="a list"),
    pytest.param(gzip.compress(HEAD.encode())[:-9], 1, id="half a gzip"),
    pytest.param(b"\xff\xfe", 1, id="no text"),
])  # fmt: skip
def test_a_file_that_is_no_exported_cache_is_refused_whole(cache, tmp_path, content, row):
    file = tmp_path / ("it.jsonl.gz" if content[:2] == b"\x1f\x8b" else "it.jsonl")
    file.write_bytes(content)
    with pytest.raises(InputError, match=f"{file.name}, row {row}: found .*; expected .*exported cache"):
        cache.take(file)
    assert not list(cache.rows())


def test_a_file_that_is_not_there(cache, tmp_path):
    with pytest.raises(InputError, match="found No such file or directory; expected an exported cache"):
        cache.take(tmp_path / "none.jsonl")
