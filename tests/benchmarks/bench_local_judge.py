"""Agreement of the local judge with labels, through its evaluators, on data that its calibration has not seen.

    python -m metrics judge install
    python -m tests.benchmarks.bench_local_judge [--set NAME …] [--workspace DIR] [--least] [--plain] [--store …]

answers: short right answers, right sentences, long hallucinated and subtly wrong answers (tests/corpora/grounding, the
half held out); bare: only the short right and the long hallucinated ones, as in HaluEval's question answering.
summaries: of dialogues of 150 words, true and with one edited sentence, as in SummEdits; long: six sentences about 500
to 600 words. begin: responses that people judged for attribution. relevance: sentences that answer the question or
another. useful, passages: a question's own passage and another's, for context_precision and context_relevance. clapnq:
passages that answer the question, and such on its subject that do not, as people found.
attempts: answers, hedged answers and refusals; no_answer: people's answers and refusals (CLAPNQ). mtrag: answers rated
by three people.

AUC and balanced accuracy (at the threshold in force, .5 where there is none) with 95 % intervals: 1,000 resamples of
whole passages. An answer passes where its least supported claim does. With --workspace an interrupted run continues
where it stopped. Sets of ../shared/data are left out where it is absent. --least: a tenth of the passages. --plain: the
same weights, asked one question about a whole answer. --store also judges the halves that set thresholds, and writes
the table that comes with Assay, metrics/calibrations/calibrations.json; --store EVALUATOR keeps the figures of the
others. An hour on two idle cores, with --store two.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics import Outputs, Suite, evaluate
from metrics.calibrations.calibrated_thresholds import models_used, shipped
from metrics.core.evaluator import JUDGE
from metrics.core.registry import evaluators
from metrics.ingest import read_outputs, read_suite
from metrics.judge.local.completer import EVEN, LocalCompleter
from metrics.judge.local.install import LOCAL
from metrics.judge.local.short_questions import ENTAILMENT
from metrics.judge.settings import settings_of
from tests.benchmarks.bench_mtrag_embeddings import correlation, joined
from tests.benchmarks.bench_thresholds import Scored, calibration, figures, show, store
from tests.benchmarks.local_judge_sets import DATA, REFUSALS, answerable, attempts, begin, passages, relevance
from tests.benchmarks.threshold_sets import clapnq
from tests.corpora.grounding import Grounded, answers, long_summaries, summaries

FIXED = {  # thresholds set beforehand: of the mean that of an earlier fit, of the least claim an even probability
    "faithfulness": {"faithfulness": 0.671, "least_supported": EVEN}
}
HALF = 40  # passages of BEGIN
QUESTIONS, ANSWERS = 150, 60  # of CLAPNQ and MT-RAG
LEAST = 10
JUDGED = settings_of(LOCAL)


class Labelled(NamedTuple):
    """A set: the evaluator, the data and what is good in it, its cases by half; whether it sets a threshold."""

    evaluator: str
    data: str
    good: str
    cases: Callable[[bool], Iterable[Grounded]]
    cuts: bool = True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", choices=[*SETS, "mtrag"], default=[])
    parser.add_argument("--workspace", type=Path)
    parser.add_argument("--least", action="store_true")
    parser.add_argument("--plain", action="store_true", help="ask one plain question about each text")
    parser.add_argument(
        "--store", nargs="?", const="", metavar="EVALUATOR", help="write the product's table of thresholds"
    )
    options = parser.parse_args()
    step = LEAST if options.least else 1
    chosen = options.set or [*SETS, *([] if options.plain else ["mtrag"])]
    if options.store is not None and not DATA.is_dir():
        sys.exit("skipped: --store needs ../shared/data")
    with tempfile.TemporaryDirectory() as scratch:
        workspace = options.workspace or Path(scratch)
        if options.store is not None:
            _store(workspace, options.store)
            return
        print(f"{'set':<58}{'evaluator':<26}{'n':>5}{'good':>6}   AUC                    balanced accuracy      at")
        for name in chosen:
            if name == "mtrag":
                _mtrag(ANSWERS // step, workspace)
            elif not _cases(name, True, step):
                print(f"{name}: left out, it needs ../shared/data")
            elif options.plain:
                _plain(name, step)
            else:
                _row(name, step, workspace)


def _store(workspace: Path, only: str) -> None:
    """Set the thresholds of each evaluator on the first halves of its sets, measure them on the others, store them.

    only: one evaluator; the figures of the others, whose questions are the same, are kept.
    """
    found = []
    for id in dict.fromkeys(one.evaluator for one in SETS.values()):
        entry = evaluators()[id]
        models = models_used(entry, entry.parameters(), {JUDGE: JUDGED})
        if only not in ("", id):
            found += [replace(one, models=models) for one in shipped() if one.evaluator == id]
            continue
        own = {name: one for name, one in SETS.items() if one.evaluator == id}
        for metric, fixed in FIXED.get(id, {id: None}).items():
            scored = {
                name: _scored(name, (False, True) if one.cuts else (True,), 1, workspace, metric)[0]
                for name, one in own.items()
            }
            used = [scored[name] for name, one in own.items() if one.cuts]
            also = [scored[name] for name, one in own.items() if not one.cuts]
            found.append(
                calibration(entry, metric, models, used or also, also if used else (), cuts=bool(used), fixed=fixed)
            )
    store(found)


def _attempts(held_out: bool) -> Iterator[Grounded]:
    """Yield people's answers to questions of CLAPNQ, and refusals of questions that their passage does not answer."""
    for kind in ("answerable", "unanswerable"):
        for place, row in enumerate(clapnq(kind)[:QUESTIONS] if held_out else ()):
            right, declined = kind == "answerable", REFUSALS[1::2]
            answer = row["output"][0]["answer"] if right else declined[place % len(declined)]
            yield Grounded(f"{kind}-{place}", kind, "-", answer, right, row["input"])


def _bare(held_out: bool) -> Iterator[Grounded]:
    """Yield the short right and the long hallucinated answers."""
    return (case for case in answers(held_out) if case.kind in ("bare", "long"))


SETS = {
    "answers": Labelled("faithfulness", "answers to questions about passages", "right", answers),
    "begin": Labelled("faithfulness", "BEGIN wow", "fully attributable", lambda half: begin(half, HALF)),
    "summaries": Labelled("faithfulness", "summaries of dialogues", "no sentence edited", summaries),
    "long": Labelled(  # fewer than 30 texts a half
        "faithfulness", "summaries of 500 to 600 words", "no sentence edited", long_summaries, cuts=False
    ),
    "bare": Labelled("faithfulness", "bare right answers, long wrong ones", "right", _bare, cuts=False),
    "relevance": Labelled("answer_relevance", "sentences about passages", "answers the question", relevance),
    "clapnq": Labelled("context_relevance", "CLAP NQ", "the passage answers", answerable),
    "passages": Labelled("context_relevance", "passages of questions", "the question's own", passages),
    "useful": Labelled("context_precision", "passages of questions", "the question's own", passages, cuts=False),
    "attempts": Labelled("no_answer", "answers, half of them hedged, and refusals", "answers", attempts, cuts=False),
    "no_answer": Labelled("no_answer", "CLAP NQ, and refusals", "people's answers", _attempts, cuts=False),
}


def _cases(name: str, held_out: bool, step: int) -> list[Grounded]:
    """Return the cases of a half of a set: those of every step-th passage."""
    cases = list(SETS[name].cases(held_out))
    groups = list(dict.fromkeys(case.group for case in cases))[::step]
    return [case for case in cases if case.group in groups]


def _scored(
    name: str, halves: Iterable[bool], step: int, workspace: Path, metric: str
) -> tuple[Scored, float | None, str]:
    """Judge halves of a set; return the scores, the threshold in force, and the pace and the unscored cases in words.

    `halves`: False for the one that sets thresholds, True for the one held out.
    """
    about = SETS[name]
    cases = [(half, case) for half in halves for case in _cases(name, half, step)]
    ids = [f"{name}-{number}" for number in range(len(cases))]
    asked = [
        {"case_id": one, "question": case.question or None, "expected_answers": [case.answer]}
        for one, (_, case) in zip(ids, cases, strict=True)
    ]
    said = [
        {"case_id": one, "model": name, "answer": case.answer, "retrieved_contexts": [case.text]}
        for one, (_, case) in zip(ids, cases, strict=True)
    ]
    begun = time.perf_counter()
    suite, outputs = Suite.from_rows(name, "text", asked), Outputs.from_rows(said)
    run = evaluate(suite, outputs, [about.evaluator], judge=LOCAL, workspace=workspace)
    verdicts = sum(max(1, len(case.sentences)) for _, case in cases)
    pace = f"{(time.perf_counter() - begun) / verdicts:.2f} s a verdict" if run.spend["calls"] else "from the cache"
    frame = pd.DataFrame({"fit": [not half for half, _ in cases], "good": [case.right for _, case in cases]}, index=ids)
    frame["cluster"] = [f"{half} {case.group}" for half, case in cases]
    frame["score"] = run.scores[run.scores["metric"] == metric].set_index("case_id")["value"]
    known = frame.dropna()
    entry = run.evaluator(about.evaluator)
    threshold = next(one.threshold for one in entry.metrics if one.name == metric)
    scored = Scored(
        about.data, about.good, known["score"].to_numpy(float), known["good"].to_numpy(bool),
        pd.factorize(known["cluster"])[0], known["fit"].to_numpy(bool),
    )  # fmt: skip
    return scored, threshold, f"{pace}, {len(frame) - len(known)} unscored"


def _row(name: str, step: int, workspace: Path) -> None:
    """Judge the half of a set that is held out, and print its line."""
    for metric in FIXED.get(SETS[name].evaluator, {SETS[name].evaluator: None}):
        scored, threshold, words = _scored(name, [True], step, workspace, metric)
        cut = EVEN if threshold is None else threshold
        show(name, metric, figures([scored], cut), f"{cut:.3f}   {words}")


def _plain(name: str, step: int) -> None:
    """Print how well P(yes) to one question about the whole answer ranks the cases of a set."""
    judge = LocalCompleter(JUDGED)
    cases = _cases(name, True, step)
    said = ({"CONTEXTS": case.text, "CLAIMS": f"{case.question} {case.answer}".strip()} for case in cases)
    score = np.array([judge.opinion(ENTAILMENT, data)[0] for data in said])
    good, fit = np.array([case.right for case in cases]), np.zeros(len(cases), bool)
    clusters = pd.factorize(np.array([case.group for case in cases]))[0]
    show(name, "one plain question", figures([Scored(name, "", score, good, clusters, fit)], EVEN), f"{EVEN:.3f}")


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
    pair = suite.restricted(names), outputs.restricted(case_ids=names)
    run = evaluate(*pair, ["faithfulness"], judge="local", workspace=workspace)
    scores = run.scores[run.scores["metric"] == "faithfulness"].set_index(["case_id", "model"])["value"]
    both = joined(scores, people, lambda models: models != "")
    rho, low, high = correlation(both)
    unscored = scores.isna().sum()
    print(
        f"{'mtrag':<11}{'faithfulness':<19}{len(both):>4}{unscored:>6}  Spearman's ρ {rho:.3f} [{low:.3f}, {high:.3f}]"
    )


if __name__ == "__main__":
    main()
