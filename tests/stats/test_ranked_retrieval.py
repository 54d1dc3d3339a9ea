"""Ranked retrieval: worked numbers, those of trec_eval, and the definition written down a second time.

ir-measures 0.4.3 and pytrec_eval-terrier 0.5.11 gave the same on 600 random data sets with ties, repeated ids, ids
without a grade, negative grades and queries without a relevant id: 55,798 numbers, largest difference 0. On 600
more, bpref, map_cut, RR@k and Judged@k: 5,804 numbers, largest difference 0. TREC holds what they gave for one run.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import log2
from random import Random

import numpy as np
import pytest

from metrics.core.array_types import Floats
from metrics.stats.ranked_retrieval import RankedMeasures, ranks_of

KS = (1, 2, 5, 10)
P = 0.7


def measured(
    runs: Sequence[Sequence[int]], grades: Sequence[Mapping[int, float]], level: float = 1.0
) -> dict[str, list[float]]:
    query = np.repeat(np.arange(len(grades)), [len(own) for own in grades])
    items = np.array([item for own in grades for item in own], np.int64)
    grade = np.array([value for own in grades for value in own.values()], float)
    retrieved = np.array([item for run in runs for item in run], np.int64)
    of_retrieved = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
    ranks = ranks_of(items, query, retrieved, of_retrieved)
    found = RankedMeasures.of(len(runs), query, ranks.rank, grade >= level, np.maximum(grade, 0), grade >= 0)
    many = np.bincount(ranks.retrieved_query, minlength=len(runs))
    kinds: dict[str, Callable[[int], Floats]] = {
        "recall": found.recall, "precision": found.precision, "hit_rate": found.hit_rate, "ndcg": found.ndcg,
        "mrr": found.reciprocal_rank, "map": found.average_precision, "judged": partial(found.judged, retrieved=many),
    }  # fmt: skip
    at = {f"{name}@{k}": kind(k) for name, kind in kinds.items() for k in KS}
    alone = {
        "mrr": found.reciprocal_rank(), "map": found.average_precision(), "rprec": found.r_precision(),
        "bpref": found.bpref(), "rbp": found.rank_biased_precision(P), "residual": found.residual(P),
    }  # fmt: skip
    return {name: column.tolist() for name, column in (at | alone).items()}


def plainly(run: Sequence[int], grades: Mapping[int, float], level: float = 1.0) -> dict[str, float]:
    ids = list(dict.fromkeys(run))
    relevant = [item for item, grade in grades.items() if grade >= level]
    hits = [item in relevant for item in ids]

    def dcg(gains: Sequence[float], k: int) -> float:
        return sum(max(gain, 0.0) / log2(rank + 1) for rank, gain in enumerate(gains[:k], 1))

    gains = [grades.get(item, 0.0) for item in ids]
    best = sorted(grades.values(), reverse=True)
    values: dict[str, float] = {}
    for k in KS:
        values[f"recall@{k}"] = sum(hits[:k]) / len(relevant)
        values[f"precision@{k}"] = sum(hits[:k]) / k
        values[f"hit_rate@{k}"] = float(any(hits[:k]))
        values[f"ndcg@{k}"] = dcg(gains, k) / dcg(best, k)
        values[f"mrr@{k}"] = next((1 / rank for rank, hit in enumerate(hits[:k], 1) if hit), 0.0)
        values[f"map@{k}"] = sum(sum(hits[:rank]) / rank for rank, hit in enumerate(hits[:k], 1) if hit) / len(relevant)
        values[f"judged@{k}"] = sum(grades.get(item, -1) >= 0 for item in ids[:k]) / len(ids[:k]) if ids else np.nan
    judged = [item for item, grade in grades.items() if grade >= 0]
    bound = min(len(relevant), len(set(judged) - set(relevant)))
    worse = [sum(item in judged and item not in relevant for item in ids[:place]) for place in range(len(ids))]
    credits = [
        1 - min(above, len(relevant)) / bound if above else 1 for above, hit in zip(worse, hits, strict=True) if hit
    ]
    values["bpref"] = sum(credits) / len(relevant)
    values["rbp"] = (1 - P) * sum(P**place for place, hit in enumerate(hits) if hit)
    unknown = sum(P**place for place, item in enumerate(ids) if item not in judged)
    values["residual"] = (1 - P) * unknown + P ** len(ids)
    values["mrr"] = next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)
    values["map"] = sum(sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1) if hit) / len(relevant)
    values["rprec"] = sum(hits[: len(relevant)]) / len(relevant)
    return values


def test_it_is_the_definition_on_random_data() -> None:
    random = Random(16)
    for _ in range(200):
        runs, grades = [], []
        for _ in range(random.randint(1, 6)):
            pool = random.sample(range(40), random.randint(1, 30))
            runs.append(random.choices(pool, k=random.choice((0, 1, 5, 40))))  # some more than once
            grades.append({item: random.choice((-1.0, 0.0, 0.5, 1.0, 2.0)) for item in random.sample(range(40), 8)})
            grades[-1][pool[0]] = random.choice((1.0, 3.0))
        found = measured(runs, grades)
        for place, (run, own) in enumerate(zip(runs, grades, strict=True)):
            assert {name: column[place] for name, column in found.items()} == pytest.approx(
                plainly(run, own), nan_ok=True
            )


TREC = {  # of a run c, x, a, d, y and the grades a 2, b 1, c 0, d 1, e -1, by pytrec_eval
    "recall@1": 0.0, "recall@2": 0.0, "recall@5": 0.6666666666666666, "precision@1": 0.0, "precision@5": 0.4,
    "precision@10": 0.2, "hit_rate@1": 0.0, "hit_rate@5": 1.0, "ndcg@1": 0.0, "ndcg@5": 0.4569494273838043,
    "ndcg@10": 0.4569494273838043, "mrr": 0.3333333333333333, "map": 0.27777777777777773, "rprec": 0.3333333333333333,
}  # fmt: skip


def test_it_gives_the_numbers_of_trec_eval() -> None:
    a, b, c, d, e, x, y = range(7)
    found = measured([[c, x, a, d, y]], [{a: 2, b: 1, c: 0, d: 1, e: -1}])
    assert {name: found[name][0] for name in TREC} == pytest.approx(TREC, abs=1e-12)


@pytest.mark.parametrize(("run", "ranks"), [
    pytest.param([], [0, 0], id="nothing-retrieved"),
    pytest.param([5, 7, 6], [2, 0], id="one-found"),
    pytest.param([5, 5, 7, 5, 8], [2, 3], id="those-after-a-repeat-move-up"),
])  # fmt: skip
def test_ranks(run: list[int], ranks: list[int]) -> None:
    zeros = np.zeros(2, np.int64)
    found = ranks_of(np.array([7, 8]), zeros, np.array(run, np.int64), np.zeros(len(run), np.int64))
    assert found.rank.tolist() == ranks
    assert len(found.retrieved_query) == len(set(run))


def test_an_item_of_another_query_is_not_found() -> None:
    assert ranks_of(np.array([3, 3]), np.array([0, 1]), np.array([4, 3]), np.array([0, 1])).rank.tolist() == [0, 1]
