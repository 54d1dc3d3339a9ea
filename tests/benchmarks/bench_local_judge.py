"""Agreement of the local judge with labels, through its evaluators, on data that its calibration has not seen.

    python -m metrics judge install
    python -m tests.benchmarks.bench_local_judge [--set NAME …] [--workspace DIR] [--least] [--plain]

answers: short right answers, right sentences, long hallucinated and subtly wrong answers (tests/corpora/grounding, the
half held out); bare: only the short right and the long hallucinated ones, as in HaluEval's question answering.
summaries: of dialogues of 150 words, true and with one edited sentence, as in SummEdits; long: six sentences about 500
to 600 words. begin: responses that people judged for attribution. relevance: sentences that answer the question or
another. useful, passages: a question's own passage and another's, for context_precision and context_relevance. clapnq:
passages that answer the question, and such on its subject that do not, as people found.
attempts: answers, hedged answers and refusals; no_answer: people's answers and refusals (CLAPNQ). mtrag: answers rated
by three people.

AUC and balanced accuracy (at a score of .5, of summaries and long at .7) with 95 % intervals: 2,000 resamples of
whole passages. With --workspace an interrupted run continues where it stopped. Sets of ../shared/data are left out
where it is absent. --least: a tenth. --plain: the same weights, asked one question about a whole answer. An hour on
two idle cores.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from metrics import Outputs, Suite, evaluate
from metrics.ingest import read_outputs, read_suite
from metrics.judge.local.completer import EVEN, LocalCompleter
from metrics.judge.local.questions import ENTAILMENT
from metrics.judge.settings import JudgeSettings
from tests.benchmarks.bench_mtrag_embeddings import correlation, joined
from tests.benchmarks.local_judge_sets import DATA, REFUSALS, answerable, attempts, begin, passages, relevance
from tests.benchmarks.threshold_sets import clapnq
from tests.corpora.grounding import Grounded, answers, long_summaries, summaries

RESAMPLES = 2_000
HELD_OUT = 40  # passages of BEGIN
QUESTIONS, ANSWERS = 150, 60  # of CLAPNQ and MT-RAG
LEAST = 10
DECLINED = REFUSALS[1::2]  # the half held out
SEVERAL = 0.7  # the cutoff for summaries of four to six claims


def main() -> None:
    """Judge each set and print a line about it."""
    sets: Mapping[str, tuple[str, Callable[[], Iterator[Grounded]]]] = {
        "bare": ("faithfulness", lambda: (case for case in answers(True) if case.kind in ("bare", "long"))),
        "answers": ("faithfulness", lambda: answers(True)),
        "summaries": ("faithfulness", lambda: summaries(True)),
        "long": ("faithfulness", lambda: long_summaries(True)),
        "begin": ("faithfulness", lambda: begin(True, HELD_OUT)),
        "relevance": ("answer_relevance", lambda: relevance(True)),
        "useful": ("context_precision", lambda: passages(True)),
        "passages": ("context_relevance", lambda: passages(True)),
        "clapnq": ("context_relevance", lambda: answerable(True)),
        "attempts": ("no_answer", lambda: attempts(True)),
        "no_answer": ("no_answer", _attempts),
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", choices=[*sets, "mtrag"], default=[])
    parser.add_argument("--workspace", type=Path)
    parser.add_argument("--least", action="store_true")
    parser.add_argument("--plain", action="store_true", help="ask one plain question about each text")
    options = parser.parse_args()
    chosen = options.set or [*sets, *([] if options.plain else ["mtrag"])]
    print(f"{'set':<11}{'evaluator':<19}{'n':>4}{'none':>6}  AUC                   balanced accuracy     s a verdict")
    with tempfile.TemporaryDirectory() as scratch:
        workspace = options.workspace or Path(scratch)
        for name in chosen:
            if name == "mtrag":
                _mtrag(ANSWERS // (LEAST if options.least else 1), workspace)
                continue
            evaluator, cases = sets[name]
            given = list(cases())
            if given and options.plain:
                _plain(name, given[:: LEAST if options.least else 1])
            elif given:
                _row(name, evaluator, given[:: LEAST if options.least else 1], workspace)


def _attempts() -> Iterator[Grounded]:
    """Yield people's answers to questions of CLAPNQ, and refusals of questions that their passage does not answer."""
    for kind in ("answerable", "unanswerable"):
        for place, row in enumerate(clapnq(kind)[:QUESTIONS]):
            right = kind == "answerable"
            answer = row["output"][0]["answer"] if right else DECLINED[place % len(DECLINED)]
            yield Grounded(f"{kind}-{place}", kind, "-", answer, right, row["input"])


def _row(name: str, evaluator: str, cases: list[Grounded], workspace: Path) -> None:
    """Judge the cases of a set and print its line."""
    ids = [f"{name}-{number}" for number in range(len(cases))]
    asked = [
        {"case_id": one, "question": case.question or None, "expected_answers": [case.answer]}
        for one, case in zip(ids, cases, strict=True)
    ]
    said = [
        {"case_id": one, "model": name, "answer": case.answer, "retrieved_contexts": [case.text]}
        for one, case in zip(ids, cases, strict=True)
    ]
    begun = time.perf_counter()
    suite, outputs = Suite.from_rows(name, "text", asked), Outputs.from_rows(said)
    run = evaluate(suite, outputs, [evaluator], judge="local", workspace=workspace)
    seconds = time.perf_counter() - begun
    scores = run.scores[run.scores["metric"] == evaluator].set_index("case_id")
    frame = pd.DataFrame({"right": [case.right for case in cases], "group": [case.group for case in cases]}, index=ids)
    frame["value"] = scores["value"]
    known = frame.dropna()
    cutoff = SEVERAL if name in ("summaries", "long") else EVEN
    verdicts = sum(max(1, len(case.sentences)) for case in cases)
    auc = _interval(known, lambda own: roc_auc_score(own["right"], own["value"]))
    accuracy = _interval(known, lambda own: balanced_accuracy_score(own["right"], own["value"] >= cutoff))
    pace = f"{seconds / verdicts:.2f}" if run.spend["calls"] else "from the cache"
    print(f"{name:<11}{evaluator:<19}{len(known):>4}{len(frame) - len(known):>6}  {auc:<22}{accuracy:<22}{pace}")


def _plain(name: str, cases: list[Grounded]) -> None:
    """Print how well P(yes) to one question about the whole answer ranks the cases of a set."""
    judge = LocalCompleter(JudgeSettings(model="local", prompts={}))
    frame = pd.DataFrame({"right": [case.right for case in cases], "group": [case.group for case in cases]})
    said = ({"CONTEXTS": case.text, "CLAIMS": f"{case.question} {case.answer}".strip()} for case in cases)
    frame["value"] = [judge.opinion(ENTAILMENT, data)[0] for data in said]
    auc = _interval(frame, lambda own: roc_auc_score(own["right"], own["value"]))
    print(f"{name:<11}{'one plain question':<19}{len(frame):>4}{0:>6}  {auc}")


def _interval(frame: pd.DataFrame, statistic: Callable[[pd.DataFrame], float]) -> str:
    """Return a statistic with its interval over resamples of whole groups in which both labels occur."""
    groups = [own for _, own in frame.groupby("group")]
    draws = np.random.default_rng(1)
    found = []
    for _ in range(RESAMPLES):
        drawn = pd.concat([groups[place] for place in draws.integers(len(groups), size=len(groups))])
        if drawn["right"].nunique() == 2:
            found.append(statistic(drawn))
    low, high = np.percentile(found, [2.5, 97.5])
    return f"{statistic(frame):.3f} [{low:.3f}, {high:.3f}]"


def _mtrag(count: int, workspace: Path) -> None:
    """Print Spearman's ρ of faithfulness with the mean of three raters: the cases with the shortest passages."""
    folder = DATA / "mtrag"
    if not folder.is_dir():
        return
    suite = read_suite(folder / "suite.csv")
    outputs = read_outputs([folder / "outputs.csv"], suite=suite)
    people = pd.read_csv(folder / "human_labels.csv").groupby(["case_id", "model"])["faithfulness"].mean()
    frame = outputs.outputs.select(["case_id", "model", "answer", "retrieved_contexts"]).to_pandas()
    frame["size"] = [sum(map(len, contexts)) if contexts is not None else 0 for contexts in frame["retrieved_contexts"]]
    asked = frame[(frame["size"] > 0) & (frame["answer"].str.strip() != "")].sort_values(["size", "case_id", "model"])
    chosen = asked["case_id"].isin(asked["case_id"].head(count))
    names = pa.array(asked[chosen]["case_id"].unique().tolist())
    run = evaluate(
        suite.restricted(names),
        outputs.restricted(case_ids=names),
        ["faithfulness"],
        judge="local",
        workspace=workspace,
    )
    scores = run.scores[run.scores["metric"] == "faithfulness"].set_index(["case_id", "model"])["value"]
    both = joined(scores, people, lambda models: models != "")
    rho, low, high = correlation(both)
    unscored = scores.isna().sum()
    print(
        f"{'mtrag':<11}{'faithfulness':<19}{len(both):>4}{unscored:>6}  Spearman's ρ {rho:.3f} [{low:.3f}, {high:.3f}]"
    )


if __name__ == "__main__":
    main()
