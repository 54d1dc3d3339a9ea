"""Fits the calibration of the local judge: the constant FOLLOWING of metrics/judge/local/questions.py.

    python -m metrics judge install
    python -m tests.benchmarks.fit_local_judge [--kept FILE]

Logistic regression of the labels of the fitting halves (tests/corpora/grounding; BEGIN's Wizard of Wikipedia part, by
passage, from ../shared/data where it is there) on the model's logit and whether the context lacks a number of the
claim. Every set counts the same, and in each the right claims as much as the wrong ones, so that a score of .5 is as
likely right as wrong. With --kept an interrupted run continues. Half an hour on two idle cores.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from metrics.judge.local.completer import EVEN, LocalCompleter
from metrics.judge.local.passages import relevant
from metrics.judge.local.questions import logit_of, missing_numbers
from metrics.judge.local.statements import stated
from metrics.judge.settings import JudgeSettings
from tests.benchmarks.local_judge_sets import begin
from tests.corpora.grounding import Grounded, answers, long_summaries, summaries

FITTED = 40  # passages of BEGIN
PENALTY = 10.0  # scikit-learn's C


class Row(NamedTuple):
    """One labelled claim: its set, the model's logit, whether the context lacks a number of it, the label."""

    name: str
    logit: float
    lacks_number: bool
    right: bool


def main() -> None:
    """Ask about every claim of the fitting halves, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, default=Path("/dev/null"))
    options = parser.parse_args()
    kept = dict(map(json.loads, options.kept.read_text().splitlines())) if options.kept.is_file() else {}
    sets = {"answers": answers(False), "summaries": summaries(False), "long": long_summaries(False)}
    _fit(list(_rows(sets | {"begin": begin(False, FITTED)}, kept, options.kept)))


def _rows(sets: dict[str, Iterator[Grounded]], kept: dict[str, float], file: Path) -> Iterator[Row]:
    judge = LocalCompleter(JudgeSettings(model="local", prompts={}))
    with file.open("a") as stream:
        for name, cases in sets.items():
            for case in cases:
                claims = stated(case.answer, case.question)
                shown = relevant(case.text, claims)
                labels = [label for _, label in case.sentences] if len(claims) == len(case.sentences) else []
                for claim, right in zip(claims, labels or [case.right] * len(claims), strict=True):
                    key = f"{claim}\n{shown}"
                    if key not in kept:
                        kept[key] = judge.opinion(claim, shown)[0]
                        stream.write(json.dumps([key, kept[key]]) + "\n")
                        stream.flush()
                    yield Row(name, logit_of(kept[key]), bool(missing_numbers(claim, case.text)), right)


def _fit(rows: list[Row]) -> None:
    """Print the coefficients, and for each set the area under the curve before and after, and the balanced accuracy."""
    sizes = Counter((row.name, row.right) for row in rows)
    facts, right = np.array([[row.logit, row.lacks_number] for row in rows]), np.array([row.right for row in rows])
    weights = np.array([len(rows) / len(sizes) / sizes[row.name, row.right] for row in rows])
    model = LogisticRegression(C=PENALTY).fit(facts, right, sample_weight=weights)
    slope, number = model.coef_[0]
    print(f"Scale(slope={slope:.2f}, offset={model.intercept_[0]:.2f}, number={number:.2f})  # {len(rows)} claims")
    likely = model.predict_proba(facts)[:, 1]
    for name in sorted({row.name for row in rows}):
        place = [number for number, row in enumerate(rows) if row.name == name]
        before, after = roc_auc_score(right[place], facts[place, 0]), roc_auc_score(right[place], likely[place])
        accuracy = balanced_accuracy_score(right[place], likely[place] >= EVEN)
        print(f"  {name}: AUC {before:.3f}, calibrated {after:.3f}, balanced accuracy {accuracy:.3f}, n {len(place)}")


if __name__ == "__main__":
    main()
