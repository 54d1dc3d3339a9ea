"""Agreement of the local judge with people's labels on real data.

    python -m metrics judge install
    python -m tests.benchmarks.bench_local_judge [--answers 100] [--questions 300] [--workspace DIR]

no_answer on CLAPNQ: a number of people's answers, and as many questions that their passage does not answer, declined in
the words below (the data has no refusals of its own). faithfulness on MT-RAG: the cases with the shortest passages
until there are enough answers, of all three models, against the mean of three raters. With --workspace an interrupted
run continues where it stopped. Skips without ../shared. About an hour on two cores.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from sklearn.metrics import roc_auc_score

from metrics import Outputs, Suite, evaluate
from metrics.ingest import read_outputs, read_suite
from metrics.stats.intervals import wilson
from tests.benchmarks.bench_mtrag_embeddings import correlation, joined

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
REFUSALS = (
    "I'm sorry, but the documents do not contain this information.", "I do not know.",
    "The passage does not say.", "Unfortunately, I cannot answer this question from the given text.",
    "There is no information about this in the provided context.", "I could not find an answer to your question.",
    "The text talks about something related, but it does not answer the question.",
    "Could you tell me more precisely what you are looking for?",
)  # fmt: skip


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--workspace", type=Path)
    options = parser.parse_args()
    if not DATA.is_dir():
        print("skipped: needs ../shared/data")
        return
    with tempfile.TemporaryDirectory() as scratch:
        workspace = options.workspace or Path(scratch)
        if options.answers:
            faithfulness(options.answers, workspace)
        if options.questions:
            no_answer(options.questions, workspace)


def no_answer(count: int, workspace: Path) -> None:
    """Print the share of attempts and of refusals that are recognised."""
    cases, rows = [], []
    for kind in ("answerable", "unanswerable"):
        lines = (DATA / "clapnq" / f"clapnq_dev_{kind}.jsonl").read_text(encoding="utf-8").splitlines()
        for place, record in enumerate(map(json.loads, lines[:count])):
            name = f"{kind}-{place}"
            answer = record["output"][0]["answer"] if kind == "answerable" else REFUSALS[place % len(REFUSALS)]
            cases.append({"case_id": name, "question": record["input"], "tags": [kind]})
            rows.append({"case_id": name, "model": "people", "answer": answer})
    found = judged(Suite.from_rows("clapnq", "text", cases), Outputs.from_rows(rows), "no_answer", workspace)
    attempted = found.index.str.startswith("answerable")
    right = (found == 1) == attempted
    for what, own in (("all", right), ("attempts", right[attempted]), ("refusals", right[~attempted])):
        low, high = wilson(own.sum(), len(own))
        print(f"no_answer, CLAPNQ, {what}: accuracy {own.mean():.3f} [{low:.3f}, {high:.3f}], n {len(own)}")


def faithfulness(count: int, workspace: Path) -> None:
    """Print Spearman's ρ of the judge's faithfulness with people's, and the AUC of recognising unfaithful answers."""
    folder = DATA / "mtrag"
    suite = read_suite(folder / "suite.csv")
    outputs = read_outputs([folder / "outputs.csv"], suite=suite)
    people = pd.read_csv(folder / "human_labels.csv").groupby(["case_id", "model"])["faithfulness"].mean()
    frame = outputs.outputs.select(["case_id", "model", "answer", "retrieved_contexts"]).to_pandas()
    frame["size"] = [sum(map(len, contexts)) if contexts is not None else 0 for contexts in frame["retrieved_contexts"]]
    asked = frame[(frame["size"] > 0) & (frame["answer"].str.strip() != "")].sort_values(["size", "case_id", "model"])
    chosen = asked["case_id"].isin(asked["case_id"].head(count))
    names = pa.array(asked[chosen]["case_id"].unique().tolist())
    kept = suite.restricted(names)
    values = judged(kept, outputs.restricted(case_ids=names), "faithfulness", workspace, ["case_id", "model"])
    both = joined(values, people, lambda models: models != "")
    rho, low, high = correlation(both)
    print(f"faithfulness, MT-RAG: Spearman {rho:.3f} [{low:.3f}, {high:.3f}], n {len(both)} of {len(values)} answers")
    faithful = both["label"] >= 3
    if faithful.nunique() == 2:
        auc = roc_auc_score(faithful, both["score"])
        print(f"  AUC for people's mean ≥ 3: {auc:.3f}, {faithful.sum()} of {len(faithful)} answers are that faithful")


def judged(suite: Suite, outputs: Outputs, evaluator: str, workspace: Path, by: Any = "case_id") -> pd.Series:
    """Return the local judge's score of each case."""
    run = evaluate(suite, outputs, [evaluator], judge="local", workspace=workspace)
    scores = run.scores
    scores = scores[(scores["metric"] == evaluator) & (scores["evaluator"] == evaluator)]
    print(f"{evaluator}: {run.spend}, unscored {scores['value'].isna().sum()}")
    return scores.set_index(by)["value"]


if __name__ == "__main__":
    main()
