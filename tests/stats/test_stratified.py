"""The exact test of an excess over controls: hand numbers, scipy's two special cases, every labelling counted."""

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from metrics.stats.group_rates import Stratum, exact_excess


def strata(most: int) -> st.SearchStrategy[Stratum]:
    def hit(sizes: tuple[int, int]) -> st.SearchStrategy[Stratum]:
        treated, control = sizes
        return st.builds(Stratum, st.just(treated), st.integers(0, treated), st.just(control), st.integers(0, control))

    return st.tuples(st.integers(0, most), st.integers(0, most)).flatmap(hit)


@pytest.mark.parametrize("given", [
    pytest.param([], id="nothing"),
    pytest.param([Stratum(2, 1, 0, 0)], id="no control"),
    pytest.param([Stratum(1, 1, 1, 1), Stratum(2, 0, 1, 0)], id="all or nobody hit"),
])  # fmt: skip
def test_where_nothing_can_be_told_there_is_no_p(given: list[Stratum]) -> None:
    assert exact_excess(Counter(given)) is None


@given(st.integers(0, 400), st.integers(0, 400))
def test_matched_pairs_are_mcnemars_exact_test(more: int, fewer: int) -> None:
    found = exact_excess({Stratum(1, 1, 1, 0): more, Stratum(1, 0, 1, 1): fewer, Stratum(1, 1, 1, 1): 5})
    if not more + fewer:
        assert found is None
    else:
        assert found == pytest.approx(stats.binomtest(more, more + fewer, alternative="greater").pvalue, rel=1e-9)


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_one_stratum_is_fishers_exact_test(treated: int, control: int, data: st.DataObject) -> None:
    hits, base = data.draw(st.integers(0, treated)), data.draw(st.integers(0, control))
    found = exact_excess(Counter([Stratum(treated, hits, control, base)]))
    if 0 < hits + base < treated + control:
        table = [[hits, treated - hits], [base, control - base]]
        assert found == pytest.approx(stats.fisher_exact(table, alternative="greater")[1], rel=1e-9)
    else:
        assert found is None


@settings(max_examples=60)
@given(st.lists(strata(3), min_size=1, max_size=4))
def test_it_counts_every_way_to_have_chosen_the_treated(given: list[Stratum]) -> None:
    ways = []
    for stratum in given:
        hits = stratum.treated_hits + stratum.control_hits
        members = [index < hits for index in range(stratum.treated + stratum.control)]
        ways.append([sum(chosen) for chosen in combinations(members, stratum.treated)] if stratum.control else [0])
    observed = sum(stratum.treated_hits for stratum in given if stratum.control)
    sums = [sum(one) for one in product(*ways)]
    found = exact_excess(Counter(given))
    assert (1.0 if found is None else found) == pytest.approx(sum(one >= observed for one in sums) / len(sums))
