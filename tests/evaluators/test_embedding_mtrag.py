"""Groundedness on real answers: people wrote and judged them. Figures: tests/benchmarks/bench_mtrag_embeddings.py."""

from pathlib import Path
from statistics import mean

from metrics.core.cases import join_cases
from metrics.core.evaluator import CaseScore
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.ingest import read_outputs, read_suite
from metrics.models import provide

CASES = 12


def test_answers_are_better_grounded_in_their_own_contexts(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "mtrag"
    suite = read_suite(folder / "suite.csv")
    outputs = read_outputs([folder / "outputs.csv"], suite=suite).restricted("gpt-4o")
    conversations = {}
    for case in join_cases(suite, outputs):
        if case.retrieved_contexts:
            conversations.setdefault(case.case_id.partition("<::>")[0], case)
    shortest = sorted(conversations.values(), key=lambda case: sum(map(len, case.retrieved_contexts)))
    cases = shortest[:CASES]
    contexts = [case.retrieved_contexts for case in cases]
    strangers = [
        case._replace(retrieved_contexts=other) for case, other in zip(cases, contexts[1:] + contexts[:1], strict=True)
    ]
    own, foreign = (values(some, tmp_path) for some in (cases, strangers))
    assert mean(own) > mean(foreign) + 0.2
    assert sum(a > b for a, b in zip(own, foreign, strict=True)) >= CASES - 2


def values(cases: list[Case], cache: Path) -> list[float]:
    entry = evaluators()["groundedness"]
    found: list[CaseScore] = entry(cases, entry.parameters(), **provide(["embedder"], {}, cache))
    return [score.values["groundedness"] or 0.0 for score in found]
