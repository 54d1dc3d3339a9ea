"""Fits the calibrations of the local judge: the scales in metrics/judge/local/short_questions.py.

    python -m metrics judge install
    python -m tests.benchmarks.fit_local_judge [--kept FILE]

Logistic regression of the labels of the fitting halves (tests/corpora/grounding, the sets of local_judge_sets, and
BEGIN's Wizard of Wikipedia part from ../shared/data where it is there) on the model's logit and whether the context
lacks a number. Every set counts the same, and in each the right claims as much as the wrong ones, so that a score of
.5 is as likely right as wrong. What claims of longer texts gain by their number is chosen from the table that
follows. With --kept an interrupted run continues. Half an hour on two idle cores.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from metrics.judge.local.claim_sentences import claim_sentences
from metrics.judge.local.completer import EVEN, LocalCompleter, relevant_passages
from metrics.judge.local.short_questions import ENTAILMENT, SHORT, logit_of, missing_numbers
from metrics.judge.settings import JudgeSettings
from tests.benchmarks.local_judge_sets import answerable, attempts, begin, passages, relevance, with_attacks
from tests.corpora.grounding import Grounded, answers, long_summaries, summaries

FITTED = 40  # passages of BEGIN
PENALTY = 10.0  # scikit-learn's C
GAINS = (0.0, 0.25, 0.5, 0.75, 1.0)  # coefficients of `several` that are compared


class Row(NamedTuple):
    """One labelled question: its set, the text and the number of its claims, the model's logit, the labels."""

    name: str
    text: int
    claims: int
    logit: float
    lacks_number: bool
    right: bool
    right_text: bool


class Asking:
    """Asks the model, and keeps what it says in a file."""

    def __init__(self, file: Path):
        self._judge = LocalCompleter(JudgeSettings(model="local", prompts={}))
        self._file = file
        self._kept = dict(map(json.loads, file.read_text().splitlines())) if file.is_file() else {}

    def claims(self, sets: Mapping[str, Iterable[Grounded]]) -> Iterator[Row]:
        for name, cases in sets.items():
            for number, case in enumerate(cases):
                claims = claim_sentences(case.answer, case.question)
                labels = [label for _, label in case.sentences] if len(claims) == len(case.sentences) else []
                for claim, right in zip(claims, labels or [case.right] * len(claims), strict=True):
                    shown = relevant_passages(case.text, claim)
                    logit = self._logit(f"{claim}\n{shown}", ENTAILMENT, {"CLAIMS": claim, "CONTEXTS": shown})
                    missing = bool(missing_numbers(claim, case.text))
                    yield Row(name, number, len(claims), logit, missing, right, case.right)

    def replies(self, prompt: str, cases: Iterable[Grounded]) -> Iterator[Row]:
        """Yield a row for each case, asked in the short question of a prompt."""
        for number, case in enumerate(cases):
            given = {"CONTEXTS": case.text, "QUESTION": case.question}
            data = given | dict.fromkeys(("CLAIMS", "EXPECTED", "ANSWER"), case.answer)
            logit = self._logit(SHORT[prompt].text(data), prompt, data)
            yield Row(prompt, number, 1, logit, False, case.right, case.right)

    def _logit(self, key: str, prompt: str, data: Mapping[str, str]) -> float:
        if key not in self._kept:
            yes, _ = self._judge.opinion(prompt, data)
            self._kept[key] = yes
            with self._file.open("a") as stream:
                stream.write(json.dumps([key, yes]) + "\n")
        return logit_of(self._kept[key])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, default=Path("/dev/null"))
    asking = Asking(parser.parse_args().kept)
    sets = {"answers": answers(False), "summaries": summaries(False), "long": long_summaries(False)}
    _fit("claims", list(asking.claims(sets | {"begin": begin(False, FITTED)})))
    for prompt, cases in {
        "answer_relevance.relevant": with_attacks(relevance(False)),
        "context_precision.useful": passages(False),
        "context_relevance.relevant": answerable(False),
        "no_answer": with_attacks(attempts(False)),
    }.items():
        _fit(prompt, list(asking.replies(prompt, cases)))


def _fit(title: str, rows: list[Row]) -> None:
    """Print the coefficients, and for each set the area under the curve before and after, and the balanced accuracy."""
    facts = np.array([[row.logit, row.lacks_number] for row in rows], dtype=float)
    right = np.array([row.right for row in rows])
    sizes = Counter((row.name, row.right) for row in rows)
    weights = np.array([len(rows) / len(sizes) / sizes[row.name, row.right] for row in rows])
    model = LogisticRegression(C=PENALTY).fit(facts, right, sample_weight=weights)
    slope, number = model.coef_[0]
    print(
        f"{title}: Scale(slope={slope:.2f}, offset={model.intercept_[0]:.2f}, number={number:.2f})  # {len(rows)} asked"
    )
    logits = model.decision_function(facts)
    for name in sorted({row.name for row in rows}):
        place = [number for number, row in enumerate(rows) if row.name == name]
        before, after = roc_auc_score(right[place], facts[place, 0]), roc_auc_score(right[place], logits[place])
        accuracy = balanced_accuracy_score(right[place], logits[place] >= 0)
        print(f"  {name}: AUC {before:.3f}, calibrated {after:.3f}, balanced accuracy {accuracy:.3f}, n {len(place)}")
        if any(rows[number].claims > 1 for number in place):
            _gains([rows[number] for number in place], logits[place])


def _gains(rows: list[Row], logits: NDArray[np.float64]) -> None:
    """Print what the coefficient of `several` does to the texts of a set and to their claims."""
    right = np.array([row.right for row in rows])
    texts = {row.text: row.right_text for row in rows}
    for gain in GAINS:
        shares = expit(logits + gain * np.array([math.log(row.claims) for row in rows]))
        refused, found = (shares[right] < EVEN).mean(), (shares[~right] < EVEN).mean()
        by_text = pd.Series(shares).groupby([row.text for row in rows])
        rules = {"mean": by_text.mean(), "product": by_text.prod(), "least": by_text.min()}
        labels = [texts[text] for text in rules["least"].index]
        best = {
            rule: max(balanced_accuracy_score(labels, values >= cut) for cut in values)
            for rule, values in rules.items()
        }
        even = balanced_accuracy_score(labels, rules["least"] >= EVEN)
        print(
            f"    several={gain:.2f}: refused {refused:.0%} of right, {found:.0%} of wrong; balanced accuracy of texts:"
            f" {', '.join(f'{rule} {value:.3f}' for rule, value in best.items())} at their best, least at .5 {even:.3f}"
        )


if __name__ == "__main__":
    main()
