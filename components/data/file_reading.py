"""Uploaded files read in a process of their own: a page shows how long it takes, and lives on whatever they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

T = TypeVar("T")


def read_upload(names: Sequence[str], paths: Sequence[Path], call: Callable[[], T]) -> T:
    """Return what a call makes of uploaded files, or raise what it raises; `call` as of `read_in_worker`.

    While it takes, the page says so: whoever calls this draws no spinner over it. Another page ends the reading.
    InputError where the files take too much time or memory.
    """
    from metrics.core.reading_worker import limits_of, read_in_worker

    limits, name = limits_of(*paths), ", ".join(names)
    if get_script_run_ctx(suppress_warning=True) is None:  # a thread beside the page
        return read_in_worker(name, call, limits)
    place = st.empty()

    def show(seconds: float) -> None:
        took = f"{seconds:.0f} of at most {limits.seconds:,.0f} s"
        place.caption(f"Reading {name} … {took}. Opening another page ends it.")

    try:
        return read_in_worker(name, call, limits, show)
    finally:
        place.empty()
