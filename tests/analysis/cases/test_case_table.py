"""Cases × models: the page that SQL reads is the one that a loop over all values finds."""

from itertools import permutations
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from metrics.analysis import case_table, table_case_ids
from metrics.store import Run, Workspace
from metrics.store.run_tables import mean_sql
from tests.analysis.scored import scored_run

NUMBER = ("exact_match", "exact_match")
VALUES = {
    "a": [0.0, 1.0, 0.0, None, 1.0, 0.0],
    "b": [0.0, 0.0, 1.0, 1.0, 1.0, None],
    "c": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
}


@pytest.fixture(scope="module")
def run(shelf: Workspace) -> Run:
    return scored_run({"exact_match.exact_match": VALUES}, workspace=shelf)


@pytest.fixture(scope="module")
def later(shelf: Workspace) -> Run:
    return scored_run({"exact_match.exact_match": {"a": [1.0] * 6}}, workspace=shelf)


def values_of(place: int, models: list[str]) -> list[float]:
    return [value for model in models if (value := VALUES[model][place]) is not None]


def fits(narrow: str | None, place: int, models: list[str]) -> bool:
    failed = [model for model in models if VALUES[model][place] == 0]
    if narrow == "any":
        return bool(failed)
    if narrow == "all":
        return len(failed) == len(models)
    if narrow == "apart":
        values = values_of(place, models)
        return len(failed) < len(models) if failed else len(set(values)) > 1
    if narrow is not None:
        model = narrow.removeprefix("alone:")
        others = values_of(place, [other for other in models if other != model])
        own = VALUES[model][place] if model in models else None
        return own is not None and bool(others) and own < min(others)
    return True


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True),
    st.sampled_from([None, "any", "all", "apart", "alone:a", "alone:c"]),
    st.sampled_from(["worst", "best", "apart", "suite"]),
    st.integers(0, 4),
)
def test_the_rows_are_those_of_a_loop(run: Run, models: list[str], narrow: str | None, order: str, offset: int) -> None:
    wanted = [place for place in range(6) if fits(narrow, place, models)]

    def rank(place: int) -> tuple[float, ...]:
        values = values_of(place, models)
        failed, mean = sum(value == 0 for value in values), sum(values) / len(values) if values else 0.0
        spread = max(values) - min(values) if values else -1.0
        missing = not values
        return {
            "worst": (-failed, missing, mean), "best": (failed, missing, -mean), "apart": (-spread, -failed),
            "suite": (),
        }[order] + (place,)  # fmt: skip

    wanted.sort(key=rank)
    asked = {"models": tuple(models), "narrow": narrow, "order": order}
    page = case_table(run, *NUMBER, limit=2, offset=offset, **asked)  # type: ignore[arg-type]
    assert page.total == len(wanted)
    assert [row["position"] for row in page.cases] == wanted[offset : offset + 2]
    assert list(table_case_ids(run, *NUMBER, **asked)) == [f"c{place}" for place in wanted]  # type: ignore[arg-type]
    for row in page.cases:
        for model in models:
            cell = page.cells[row["position"], model]
            value = VALUES[model][row["position"]]
            assert cell["value"] == value or (value is None and cell["value"] != cell["value"])
            assert bool(cell["failing"]) == (value == 0)


def test_compared_with_another_model_or_run(run: Run, later: Run, workspace: Path) -> None:
    bases = [case_table(run, *NUMBER, base_model="c").cells[place, "a"]["base"] for place in range(6)]
    assert bases == VALUES["c"]
    page = case_table(run, *NUMBER, models=("a",), base_run=later, narrow="worse", order="change")
    assert [row["case_id"] for row in page.cases] == ["c0", "c2", "c5"]
    assert {cell["base"] for cell in page.cells.values()} == {1.0}


def test_a_mean_over_models_is_the_same_in_every_order_of_their_rows() -> None:
    orders = [", ".join(f"({value}::DOUBLE)" for value in order) for order in permutations((0.1, 1e16, 0.7, -1e16))]

    def means(sql: str) -> set[float]:
        return {duckdb.sql(f"SELECT {sql} FROM (VALUES {rows}) t(v)").fetchall()[0][0] for rows in orders}

    assert len(means(mean_sql("v"))) == 1 < len(means("avg(v)"))
    mean = f"SELECT {mean_sql('v')} FROM"
    assert duckdb.sql(f"{mean} (VALUES (NULL::DOUBLE), (0.5)) t(v)").fetchall() == [(0.5,)]
    assert duckdb.sql(f"{mean} (VALUES (NULL::DOUBLE)) t(v)").fetchall() == [(None,)]
