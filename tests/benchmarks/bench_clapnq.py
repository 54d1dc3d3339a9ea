"""How well evaluators without a judge separate matching from mismatched questions and answers of real data.

    python -m tests.benchmarks.bench_clapnq [--cases N]

CLAP NQ's dev set: questions put to a search engine, the passage of Wikipedia that answers each, and what annotators
answered from it. Each evaluator scores the matching pair (the answer with its passage, the passage with its question,
two annotators' answers to one question) and a mismatched one, with the next question's, which is an easy case. Printed:
the medians and the AUC with a 95 % interval (2,000 resamples of questions). Then the rules on all texts, where a
finding is an error unless the text does contain somebody's number or address, and the time each takes. Skips without
../shared. Two minutes on one core.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.models import provide
from metrics.text.sensitive.encodings import ENCODINGS, encoded_parts
from metrics.text.sensitive.personal_data import personal_data
from metrics.text.sensitive.secrets import secrets
from tests.benchmarks.bench_mtrag_embeddings import DATA, scores

FOLDER = DATA.parent / "clapnq"
RESAMPLES = 2_000
PASSAGES = 8  # in which context_mrr looks for the right one


def main() -> None:
    """Evaluate and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=150, metavar="N")
    options = parser.parse_args()
    if not FOLDER.is_dir():
        print("skipped: needs ../shared/data/clapnq")
        return
    rows = read("answerable")
    with tempfile.TemporaryDirectory() as folder:
        compare(rows[: options.cases], provide(["embedder", "token_encoder"], {}, Path(folder)))
    rules([*texts(rows), *texts(read("unanswerable"))])


def read(part: str) -> list[dict[str, Any]]:
    lines = (FOLDER / f"clapnq_dev_{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def texts(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield row["input"]
        yield from (passage["text"] for passage in row["passages"])
        yield from (output["answer"] for output in row["output"] if output["answer"])


def compare(rows: Sequence[dict[str, Any]], resources: dict[str, Any]) -> None:
    """Run every evaluator on matching and mismatched pairs."""
    passages = [row["passages"][0]["text"] for row in rows]
    answers = [row["output"][0]["answer"] for row in rows]
    seconds = [row["output"][1]["answer"] if len(row["output"]) > 1 else None for row in rows]

    def cases(shift: int, **fields: Sequence[Any]) -> list[Case]:
        """Of each question; `fields` of the question `shift` further on, but for those named own_…."""
        made = []
        for place in range(len(rows)):
            own = {
                name.removeprefix("own_"): values[place if name.startswith("own_") else (place + shift) % len(rows)]
                for name, values in fields.items()
            }
            if all(own.values()):
                made.append(Case.of(case_id=str(place), model="m", **own))
        return made

    questions = [row["input"] for row in rows]
    in_passage = {"own_answer": answers, "retrieved_contexts": [[text] for text in passages]}
    of_question = {"own_question": questions, "retrieved_contexts": [[text] for text in passages]}
    of_answer = {"own_question": questions, "answer": answers}
    twice = {"own_answer": answers, "expected_answers": [[text] if text else None for text in seconds]}
    asked = (
        ("groundedness", "groundedness", in_passage, "answer in its passage"),
        ("context_relevancy_soft", "recall", of_question, "passage of the question"),
        ("answer_relevancy_sentence", "answer_relevancy_sentence", of_answer, "answer to the question"),
        ("answer_semantic_similarity", "answer_semantic_similarity", twice, "two answers to it"),
        ("answer_semantic_sentence_similarity", "mean_similarity", twice, "two answers to it"),
        ("rouge", "rougeL", twice, "two answers to it"),
        ("rouge", "rouge1", twice, "two answers to it"),
        ("bleu", "bleu1", twice, "two answers to it"),
    )
    print(f"{'evaluator.metric':<54}{'of':<25}{'n':>4}{'right':>8}{'wrong':>8}{'AUC':>8}   95 % interval   seconds")
    for name, metric, fields, what in asked:
        begun = time.process_time()
        right, wrong = (
            scores(evaluators()[name], cases(shift, **fields), resources)[metric].dropna().to_numpy()
            for shift in (0, 1)
        )
        spent = time.process_time() - begun
        area, low, high = separation(right, wrong)
        print(
            f"{name + '.' + metric:<54}{what:<25}{len(right):>4}{np.median(right):>8.3f}{np.median(wrong):>8.3f}"
            f"{area:>8.3f}   {low:.3f} … {high:.3f}   {spent:7.1f}"
        )
    ranked = []
    for place, question in enumerate(questions):
        around = [passages[(place + step) % len(rows)] for step in range(PASSAGES)]
        turn = place % PASSAGES  # the right one is in every place equally often
        contexts = around[-turn:] + around[:-turn] if turn else around
        ranked.append(Case.of(case_id=str(place), model="m", question=question, retrieved_contexts=contexts))
    found = scores(evaluators()["context_mrr"], ranked, resources)["context_mrr"]
    best = np.mean([1 / (1 + place % PASSAGES) for place in range(len(rows))])
    print(f"context_mrr of {PASSAGES} passages, one of them right: {found.mean():.3f}; where it stands: {best:.3f}")


def separation(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the share of (right, wrong) pairs with the right one larger, ties counting half, and its interval."""
    wins = (right[:, None] > wrong[None, :]) + 0.5 * (right[:, None] == wrong[None, :])
    rng = np.random.default_rng(0)
    draws = [
        wins[np.ix_(rng.integers(0, len(right), len(right)), rng.integers(0, len(wrong), len(wrong)))].mean()
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(wins.mean()), float(low), float(high)


def rules(every: Sequence[str]) -> None:
    """Print what the rules find in texts with hardly anything to find."""
    size = sum(map(len, every))
    print(f"rules on {len(every):,} texts, {size:,} characters:")
    for name, find in (
        ("personal data", lambda text: [(datum.kind, text[datum.start : datum.end]) for datum in personal_data(text)]),
        ("secrets", lambda text: [(secret.kind, text[secret.start : secret.end]) for secret in secrets(text)]),
        ("encodings", lambda text: [(part.encodings, part.text) for part in encoded_parts(text, ENCODINGS)]),
    ):
        begun = time.process_time()
        found = Counter(one for text in every for one in find(text))
        spent = time.process_time() - begun
        print(f"  {name}: {found.total()} found in {spent:.1f} s ({size / spent / 1e6:.2f} MB/s)")
        for one, times in found.most_common(20):
            print(f"    {one} × {times}")


if __name__ == "__main__":
    main()
