"""Cohen's κ and Krippendorff's α of the data itself, against scikit-learn, published tables and people's labels."""

import json
import random
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import Unreadable
from metrics.judge.asking import Reply
from metrics.judge.replies import read
from metrics.stats.bootstrap import counted
from metrics.stats.rater_agreement import Level, alphas, kappas

LEVELS: tuple[Level, ...] = get_args(Level)
# Krippendorff 2011, example C: 4 observers, 12 units, some values missing
OBSERVERS: list[list[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]  # fmt: skip
UNITS = list(zip(*OBSERVERS, strict=True))


def kappa_of(
    left: Sequence[Hashable], right: Sequence[Hashable], order: Sequence[Hashable], quadratic: bool = False
) -> float:
    place = {label: index for index, label in enumerate(order)}
    codes = np.array([place[one] * len(order) + place[other] for one, other in zip(left, right, strict=True)], np.int64)
    tables = counted(np.ones((1, len(codes))), codes, len(order) ** 2).reshape(1, len(order), len(order))
    return float(kappas(tables, quadratic)[0])


def alpha_of(ratings: Sequence[Sequence[float | None]], level: Level) -> float:
    given = np.array([[np.nan if one is None else one for one in row] for row in ratings], float)
    return float(alphas(given, np.ones((1, len(given))), level)[0])


@pytest.mark.parametrize("quadratic", [False, True], ids=["plain", "quadratic"])
@pytest.mark.parametrize("labels", ["ab", "abc", (1, 2, 3, 4, 5), (0, 1)], ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_kappa_equals_scikit_learns(quadratic: bool, labels: Sequence[Any], seed: int) -> None:
    from sklearn.metrics import cohen_kappa_score

    chance = random.Random(seed)
    left = chance.choices(labels, k=40)
    right = [label if chance.random() < 0.6 else chance.choice(labels) for label in left]
    expected = cohen_kappa_score(left, right, weights="quadratic" if quadratic else None)
    assert kappa_of(left, right, sorted(labels), quadratic) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("left", "right", "kappa"), [
    pytest.param("yynn", "yynn", 1.0, id="agree"),
    pytest.param("yynn", "nnyy", -1.0, id="disagree throughout"),
    pytest.param("yynn", "ynyn", 0.0, id="chance"),
    pytest.param("yyyy", "yyyy", np.nan, id="one label: chance would agree too"),
    pytest.param("yyyy", "ynyn", 0.0, id="one rater has no opinion of his own"),
    pytest.param("", "", np.nan, id="nothing"),
])  # fmt: skip
def test_kappa_by_hand(left: str, right: str, kappa: float) -> None:
    assert kappa_of(left, right, "ny") == pytest.approx(kappa, nan_ok=True)


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_equals_krippendorffs_own(level: Level, alpha: float) -> None:
    assert alpha_of(UNITS, level) == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "interval"])
@pytest.mark.parametrize("seed", range(4))
def test_alpha_equals_the_krippendorff_package(level: Level, seed: int) -> None:
    import krippendorff

    chance = random.Random(seed)
    units = [[chance.choice([1.0, 2.0, 3.0, 5.0, None]) for _ in range(4)] for _ in range(25)]
    table = [[float("nan") if value is None else value for value in rater] for rater in zip(*units, strict=True)]
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
    assert alpha_of(units, level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "ratings", [[[1, None], [None, 2]], [[1, 1], [1, 1]], [[None, None]]], ids=["no pair", "same", "none"]
)
def test_without_pairs_or_differences_there_is_no_alpha(ratings: list[list[float | None]]) -> None:
    assert np.isnan([alpha_of(ratings, level) for level in LEVELS]).all()


@given(
    st.lists(st.lists(st.sampled_from([1.0, 2.0, 3.0, None]), min_size=3, max_size=3), min_size=1, max_size=12),
    st.randoms(),
)
def test_alpha_does_not_know_raters_or_units_by_name(ratings: list[list[float | None]], chance: random.Random) -> None:
    shuffled = [chance.sample(row, 3) for row in chance.sample(ratings, len(ratings))]
    for level in LEVELS:
        found = alpha_of(ratings, level)
        assert alpha_of(shuffled, level) == pytest.approx(found, nan_ok=True)
        assert np.isnan(found) or found <= 1 + 1e-12


class Compared(Reply):
    """What PandaLM's judges reply of two responses."""

    reason: str = ""
    better: Literal["1", "2", "Tie"]


@pytest.fixture(scope="module")
def people(shared: Path) -> list[list[int]]:
    """What each annotator of PandaLM's test set says of every pair."""
    rows = json.loads((shared / "data/pandalm/pandalm_testset_human.json").read_text())
    return [[row[f"annotator{number}"] for row in rows] for number in (1, 2, 3)]


class TestPandaLM:
    """999 pairs of responses, compared by three people and two judges."""

    def test_gpt_35_against_the_majority(self, shared: Path, people: list[list[int]]) -> None:
        rows = json.loads((shared / "data/pandalm/pandalm_judge_gpt35.json").read_text())
        said = {"1": 1, "2": 2, "Tie": 0}
        majority = [max(labels, key=labels.count) for labels in zip(*people, strict=True)]
        pairs = [
            (said[row["gpt_result"]], own) for row, own in zip(rows, majority, strict=True) if row["gpt_result"] in said
        ]
        judge, human = zip(*pairs, strict=True)
        assert len(pairs) == 974
        assert sum(left == right for left, right in pairs) / len(pairs) == pytest.approx(0.7156, abs=5e-5)
        assert kappa_of(judge, human, (0, 1, 2)) == pytest.approx(0.4929, abs=5e-5)

    def test_25_replies_of_gpt_35_cannot_be_read(self, shared: Path) -> None:
        rows = json.loads((shared / "data/pandalm/pandalm_judge_gpt35.json").read_text())
        replies = [json.dumps({"reason": row["gpt_reason"], "better": row["gpt_result"]}) for row in rows]
        failures = []
        for text in replies:
            try:
                assert read(text, Compared).better in ("1", "2", "Tie")
            except Unreadable as failure:
                failures.append(str(failure))
        assert (len(replies), len(failures)) == (999, 25)
        assert all("better: Input should be '1', '2' or 'Tie'" in failure for failure in failures)
