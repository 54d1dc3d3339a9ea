"""Results of sealed runs are computed once for equal arguments."""

from collections.abc import Sequence

import pytest

from metrics.store import Run, cache_by_run

computed: list[tuple[Run, tuple[str, ...], str | None]] = []


@cache_by_run(maxsize=2)
def names(run: Run, models: Sequence[str], tag: str | None = None) -> str:
    computed.append((run, tuple(models), tag))
    if not models:
        raise ValueError("no model")
    return f"{run.id}: {', '.join(models)} {tag}"


def test_equal_arguments_are_computed_once(tmp_path):
    computed.clear()
    run, again, other = Run(tmp_path / "a"), Run(tmp_path / "a"), Run(tmp_path / "b")
    assert names(run, ["m"]) == names(again, ("m",), None) == names(run, models=["m"], tag=None) == "a: m None"
    assert (names(other, ["m"]), computed) == ("b: m None", [(run, ("m",), None), (other, ("m",), None)])


def test_failures_and_the_oldest_results_are_not_kept(tmp_path):
    computed.clear()
    for _ in range(2):
        with pytest.raises(ValueError, match="no model"):
            names(Run(tmp_path / "c"), [])
    for tag in ("x", "y", "z", "x"):
        names(Run(tmp_path / "c"), ["m"], tag)
    assert len(computed) == 6
