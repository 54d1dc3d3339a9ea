"""Agreement of embedding and word evaluators with people: Spearman's ρ on the MT-RAG human evaluation.

    python -m tests.benchmarks.bench_mtrag_embeddings

159 cases × 3 models (one of them the reference answers), each faithfulness and completeness the mean of three raters.
Intervals: 95 %, 2,000 resamples of whole conversations. Skips without ../shared. A minute on one core.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from metrics.core.cases import join_cases
from metrics.core.evaluator import Evaluator
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.ingest import read_outputs, read_suite
from metrics.models import provide

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "mtrag"
ASKED = (
    ("groundedness", "groundedness", "faithfulness"),
    ("answer_semantic_similarity", "answer_semantic_similarity", "faithfulness"),
    ("answer_semantic_similarity", "answer_semantic_similarity", "completeness"),
    ("answer_semantic_sentence_similarity", "mean_similarity", "faithfulness"),
    ("answer_semantic_sentence_similarity", "min_similarity", "faithfulness"),
    ("answer_relevancy_sentence", "answer_relevancy_sentence", "appropriateness"),
    ("context_relevancy_soft", "recall", "faithfulness"), ("context_relevancy_soft", "precision", "faithfulness"),
    ("rouge", "rougeL", "faithfulness"), ("rouge", "rougeL", "completeness"), ("rouge", "rouge1", "completeness"),
)  # fmt: skip
RESAMPLES = 2_000


def main() -> None:
    if not DATA.is_dir():
        print("skipped: needs ../shared/data/mtrag")
        return
    people = pd.read_csv(DATA / "human_labels.csv").groupby(["case_id", "model"]).mean(numeric_only=True)
    cases = read_cases()
    with tempfile.TemporaryDirectory() as folder:
        resources = provide(["embedder"], {}, Path(folder))  # those that need none leave it
        scored: dict[str, pd.DataFrame] = {}
        for name in dict.fromkeys(name for name, _, _ in ASKED):
            begun = time.perf_counter()
            scored[name] = scores(evaluators()[name], cases, resources)
            print(f"{name}: {len(cases)} cases in {time.perf_counter() - begun:.1f} s", file=sys.stderr)
    print(f"{'evaluator.metric':<56}{'people':<17}{'models':<10}{'n':>4}{'ρ':>8}   95 % interval")
    for name, metric, label in ASKED:
        for which, keep in (("all", lambda model: model == model), ("not ref.", lambda model: model != "reference")):
            row(f"{name}.{metric}", label, which, joined(scored[name][metric], people[label], keep))


def read_cases() -> list[Case]:
    """Return the 477 answers joined with their questions and expected answers."""
    suite = read_suite(DATA / "suite.csv")
    return list(join_cases(suite, read_outputs([DATA / "outputs.csv"], suite=suite)))


def scores(entry: Evaluator, cases: list[Case], resources: dict[str, object]) -> pd.DataFrame:
    """Return a row per case and model with a column per metric."""
    asked = [case for case in cases if all(getattr(case, name) for name in entry.inputs)]
    parameters = entry.parameters()
    given = {name: resources[name] for name in entry.resources if name in resources}
    if entry.shape == "case":
        found = [entry(case, parameters, **given) for case in asked]
    else:
        found = entry(asked, parameters, **given)
    index = pd.MultiIndex.from_tuples([(case.case_id, case.model) for case in asked], names=["case_id", "model"])
    return pd.DataFrame([dict(score.values) for score in found], index, [m.name for m in entry.metrics], float)


def joined(values: pd.Series, labels: pd.Series, keep: Callable[[pd.Index], np.ndarray]) -> pd.DataFrame:
    """Return score and label side by side, with the conversation the case is a turn of."""
    both = pd.concat([values, labels], axis=1, keys=["score", "label"]).dropna()
    both = both[keep(both.index.get_level_values("model"))]
    return both.assign(conversation=both.index.get_level_values("case_id").str.split("<::>").str[0])


def correlation(both: pd.DataFrame) -> tuple[float, float, float]:
    """Return Spearman's ρ of the columns score and label, and its interval over the conversations."""
    groups = [group[["score", "label"]].to_numpy() for _, group in both.groupby("conversation")]
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(RESAMPLES):
        some = np.concatenate([groups[place] for place in rng.integers(0, len(groups), len(groups))])
        draws.append(spearmanr(some[:, 0], some[:, 1]).statistic)
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return spearmanr(both.score, both.label).statistic, low, high


def row(title: str, label: str, which: str, both: pd.DataFrame) -> None:
    rho, low, high = correlation(both)
    print(f"{title:<56}{label:<17}{which:<10}{len(both):>4}{rho:>8.3f}   {low:.3f} … {high:.3f}")


if __name__ == "__main__":
    main()
