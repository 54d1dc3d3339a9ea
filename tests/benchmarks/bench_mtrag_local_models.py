"""Evaluators on token encoders and language models on real text: the answers of the MT-RAG human evaluation.

    python -m tests.benchmarks.bench_mtrag_local_models [--language-model PATH|NAME] [--classifier PATH|NAME]

Consistency by BERTScore with the bundled model: of the three answers to each case taken as repeats, and of each model's
answer with the reference against people's ratings. With a language model (a folder, a GGUF file, a hub's name)
also perplexity against naturalness, fluent against scrambled answers, and with --questions gptscore_qa and
gptscore_summary_reference (against the expected answer); with a classifier of pairs (HHEM) hallucination against
faithfulness; both for every N-th answer. Intervals: 95 %, 2,000 resamples of whole conversations. Skips without
../shared. Half a minute on one core; SmolLM2-135M takes some ten more.
"""

import argparse
import random
import sys
import tempfile
import time
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metrics.core.registry import evaluators
from metrics.core.suite import Case, Outputs, Suite
from metrics.models import provide
from tests.benchmarks.bench_mtrag_embeddings import DATA, joined, read_cases, row, scores

SCRAMBLED = 40  # answers


def main() -> None:
    """Evaluate and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--language-model")
    parser.add_argument("--classifier")
    parser.add_argument("--questions", action="store_true")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    options = parser.parse_args()
    if not DATA.is_dir():
        print("skipped: needs ../shared/data/mtrag")
        return
    people = pd.read_csv(DATA / "human_labels.csv").groupby(["case_id", "model"]).mean(numeric_only=True)
    cases = [case for case in read_cases() if (case.answer or "").strip()]
    with tempfile.TemporaryDirectory() as folder:
        consistency(cases, people, provide(["token_encoder"], {}, Path(folder))["token_encoder"])
        if options.language_model:
            setting = {"language_model": options.language_model}
            model = provide(["language_model"], setting, Path(folder))["language_model"]
            likelihood(cases[:: options.every], people, model)
            if options.questions:
                questions(cases[:: options.every], people, model)
        if options.classifier:
            hallucination(cases[:: options.every], people, provide(["classifier"], vars(options), Path(folder)))


def consistency(cases: list[Case], people: pd.DataFrame, encoder: Any) -> None:
    """Compare the three answers of a case; and one answer with the reference, against people's ratings."""
    models = list(dict.fromkeys(case.model for case in cases))
    begun = time.perf_counter()
    [aggregate] = repeated(cases, models, encoder).aggregates
    print(
        f"consistency_bertscore of {', '.join(models)} as repeats: {aggregate.value:.3f} "
        f"[{aggregate.low:.3f}, {aggregate.high:.3f}], n {aggregate.n}, {encoder.name}, "
        f"{time.perf_counter() - begun:.1f} s"
    )
    rows = {}
    for model in models:
        if model != "reference":
            found = repeated(cases, ["reference", model], encoder).cases
            rows |= {(name, model): score.values.get("consistency_bertscore") for name, score in found.items()}
    values = pd.Series(rows, dtype=float).rename_axis(["case_id", "model"])
    for label in ("faithfulness", "completeness"):
        row("BERTScore with the reference", label, "not ref.", joined(values, people[label], lambda own: own != ""))


def repeated(cases: list[Case], models: list[str], encoder: Any) -> Any:
    """consistency_bertscore of these models' answers, taken as repeats of one model."""
    entry = evaluators()["consistency_bertscore"]
    some = [case for case in cases if case.model in models]
    suite = Suite.from_rows("mtrag", "text", [{"case_id": name} for name in dict.fromkeys(c.case_id for c in some)])
    rows = [
        {"case_id": case.case_id, "model": "m", "run": models.index(case.model) + 1, "answer": case.answer}
        for case in some
    ]
    return entry(suite, Outputs.from_rows(rows), entry.parameters(), token_encoder=encoder)


def likelihood(cases: list[Case], people: pd.DataFrame, model: Any) -> None:
    """Perplexity of answers as they are and with their words shuffled; against naturalness."""
    begun = time.perf_counter()
    found = scores(evaluators()["perplexity"], cases, {"language_model": model})["perplexity"]
    own = found.groupby("model").median()
    print(
        f"perplexity, median by model, {model.name}: "
        + ", ".join(f"{name} {value:.1f}" for name, value in own.items())
        + f"; {time.perf_counter() - begun:.0f} s"
    )
    for which, keep in (("all", lambda own: own == own), ("not ref.", lambda own: own != "reference")):
        row("−perplexity", "naturalness", which, joined(-found, people["naturalness"], keep))
    rng = random.Random(0)
    texts = [case.answer or "" for case in rng.sample(cases, SCRAMBLED)]
    shuffled = [" ".join(rng.sample(text.split(), len(text.split()))) for text in texts]
    pairs = list(zip(*(model.losses([("", text) for text in side]) for side in (texts, shuffled)), strict=True))
    plain, mixed = (exp(np.median([pair[side].mean for pair in pairs])) for side in (0, 1))
    below = sum(first.mean < second.mean for first, second in pairs)
    print(f"{SCRAMBLED} answers, median perplexity {plain:.1f}; their words shuffled {mixed:.1f}; {below} of them rise")


def questions(cases: list[Case], people: pd.DataFrame, model: Any) -> None:
    """gptscore_qa, and gptscore_summary_reference of the answers that are not the reference, against people."""
    begun = time.perf_counter()
    asked = scores(evaluators()["gptscore_qa"], cases, {"language_model": model})
    print(f"gptscore_qa of {len(cases)} answers: {time.perf_counter() - begun:.0f} s")
    for name, label in (("correctness", "faithfulness"), ("relevance", "appropriateness"), ("fluency", "naturalness")):
        for which, keep in (("all", lambda own: own == own), ("not ref.", lambda own: own != "reference")):
            row(f"−gptscore_qa.{name}", label, which, joined(-asked[name], people[label], keep))
    begun = time.perf_counter()
    others = [case for case in cases if case.model != "reference"]
    told = scores(evaluators()["gptscore_summary_reference"], others, {"language_model": model})
    print(f"gptscore_summary_reference of {len(others)} answers: {time.perf_counter() - begun:.0f} s")
    for name, label in (("semantic_coverage", "completeness"), ("factuality", "faithfulness")):
        both = joined(-told[name], people[label], lambda own: own != "reference")
        row(f"−gptscore_summary_reference.{name}", label, "not ref.", both)


def hallucination(cases: list[Case], people: pd.DataFrame, resources: dict[str, Any]) -> None:
    """HHEM against faithfulness."""
    begun = time.perf_counter()
    found = scores(evaluators()["hallucination_hhem"], cases, resources)["hallucination_hhem"]
    print(f"hallucination_hhem: {len(found)} answers in {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    for which, keep in (("all", lambda own: own == own), ("not ref.", lambda own: own != "reference")):
        row("hallucination_hhem", "faithfulness", which, joined(found, people["faithfulness"], keep))


if __name__ == "__main__":
    main()
