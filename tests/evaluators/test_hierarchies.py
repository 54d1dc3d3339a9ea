"""Classes in a hierarchy: equal to the definition written plainly, from parents, the suite or paths."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from metrics.core.classes import ClassFacts
from metrics.core.errors import InputError
from metrics.core.evaluator import Aggregate
from metrics.core.suite import Outputs, Suite
from tests.evaluators.tabular import overall, run
from tests.random_seeds import seeds


def data_set(pairs: list[tuple[str, str]]) -> tuple[Suite, Outputs]:
    cases = [{"case_id": str(n), "label": truth} for n, (truth, _) in enumerate(pairs)]
    made = [{"case_id": str(n), "model": "m", "label": guess, "score": 1.0} for n, (_, guess) in enumerate(pairs)]
    outputs = [{"case_id": str(n), "model": "m"} for n in range(len(pairs))]
    return Suite.from_rows("s", "classification", cases), Outputs.from_rows(outputs, made)


def numbers(data: tuple[Suite, Outputs], **parameters: Any) -> dict[str, Aggregate]:
    return overall(run("hierarchical_classification", data, **parameters))


def ancestors(label: str, parents: dict[str, str]) -> set[str]:
    """The class and all above it."""
    return {label} | (ancestors(parents[label], parents) if label in parents else set())


def test_equal_to_the_definition_on_random_hierarchies() -> None:
    for seed in seeds(20, 200):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(3, 12))
        parents = {f"c{code}": f"c{rng.integers(0, code)}" for code in range(1, k) if rng.random() < 0.8}
        parents |= {"c1": "c0"}
        pairs = [(f"c{rng.integers(k)}", f"c{rng.integers(k)}") for _ in range(int(rng.integers(1, 20)))] + [
            ("c1", "c0")
        ]
        sets = [(ancestors(truth, parents), ancestors(guess, parents)) for truth, guess in pairs]
        both = sum(len(true & made) for true, made in sets)
        found = numbers(data_set(pairs), parents=parents, resamples=0)
        assert found["hierarchical_precision"].value == pytest.approx(both / sum(len(made) for _, made in sets))
        assert found["hierarchical_recall"].value == pytest.approx(both / sum(len(true) for true, _ in sets))
        assert found["lca_distance"].value == pytest.approx(np.mean([len(true ^ made) for true, made in sets]))


def test_the_suite_may_name_the_hierarchy() -> None:
    suite, outputs = data_set([("poodle", "husky")])
    facts = {"poodle": ClassFacts(parent="dog"), "husky": ClassFacts(parent="dog")}
    found = numbers((replace(suite, classes=facts), outputs))
    assert found["hierarchical_f1"].value == 0.5
    evidence = run("hierarchical_classification", (replace(suite, classes=facts), outputs)).cases["0"].evidence
    assert evidence.facts == {"truth": "poodle", "predicted": "husky", "common_ancestor": "dog"}


def test_a_circle_is_refused() -> None:
    with pytest.raises(InputError, match="a below b below a"):
        numbers(data_set([("a", "c")]), parents={"a": "b", "b": "a"})
