"""Answers that are kept: by what, and until when."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from components.data.visitors import kept_here, working_in
from metrics.store.threshold_profiles import ThresholdProfiles


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def test_an_answer_is_kept_however_the_arguments_are_passed_and_in_one_workspace(tmp_path: Path) -> None:
    asked = []

    @kept_here
    def double(number: int, times: int = 2) -> int:
        asked.append(number)
        return number * times

    with working_in(tmp_path / "one"):
        assert [double(3), double(number=3), double(3, 2), double(times=2, number=3)] == [6] * 4
        assert (double(3, 3), asked) == (9, [3, 3])
    with working_in(tmp_path / "two"):
        assert (double(3), asked) == (6, [3, 3, 3])


def test_an_answer_is_computed_again_after_thresholds_are_set_and_with_another_version(tmp_path: Path) -> None:
    versions, asked = {"a": 1, "b": 1}, []

    def read(name: str) -> str:
        asked.append(name)
        return name

    kept = kept_here(read, version=lambda name: versions[name])
    with working_in(tmp_path):
        assert [kept("a"), kept("b"), kept("a")] == ["a", "b", "a"]
        versions["a"] = 2
        assert [kept("a"), kept("b")] == ["a", "b"]
        assert asked == ["a", "b", "a"]
        ThresholdProfiles(tmp_path).use("Strict")
        assert [kept("a"), kept("b")] == ["a", "b"]
        assert asked == ["a", "b", "a", "a", "b"]
