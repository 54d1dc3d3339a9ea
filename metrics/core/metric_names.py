"""The names of metrics that people read in place of their codes."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from metrics.core.registry import evaluators

KNOWN = {  # how the field writes it, by the lower-case word
    **{word.lower(): word for word in ("F1", "IoU", "mIoU", "AP", "AP50", "AP75", "AR", "mAP", "mAR", "MRR", "nDCG")},
    **{word.lower(): word for word in ("AUC", "ROC", "BLEU", "ROUGE", "PII", "JSON", "COCO", "HHEM", "FN", "FP", "CV")},
    **{word.lower(): word for word in ("BERTScore", "RAGAS", "UMBRELA", "LLM", "PR", "AutoNuggetizer", "GPTScore")},
}
WHOLE = {"tp": "True positives", "fn": "False negatives", "fp": "False positives"}  # an abbreviation alone
NUMBERED = re.compile(r"(bleu|rouge)(\d|L(?:sum)?)")
AT = re.compile(r"(?:_at|(?<=^AR))_(\d+)$")  # precision_at_3, AR_100
GAIN = "d_ap"  # of TIDE: the AP gained without an error
OWN = re.compile(r"\b([a-z_]+) (?=-?[\d.]+\b)")  # iou 0.5: a metric's own column


class NamedColumn(Protocol):
    """What a metric's name is made of: a column of the leaderboard or of a report."""

    @property
    def evaluator(self) -> str:
        """The evaluator's id."""

    @property
    def title(self) -> str:
        """The metric's code, and after a blank the values of its own columns."""


class TitledColumn(NamedColumn, Protocol):
    """A column that knows what its evaluator is called."""

    @property
    def evaluator_title(self) -> str:
        """The evaluator's title."""


def metric_name(metric: str, evaluator: str | None = None) -> str:
    """Return a metric's name: its declared title, else its code in words: `best_f1` → `Best F1`, `rougeL` → `ROUGE-L`.

    A metric that is named like its `evaluator` has the evaluator's title.
    """
    entry = evaluators().get(evaluator) if evaluator else None
    if entry is not None:
        declared = next((one.title for one in entry.metrics if one.name == metric), "")
        if declared or metric == entry.id:
            return declared or entry.title
    return in_words(metric)


def column_name(column: NamedColumn) -> str:
    """Return the name of a column's metric with the values of its own columns: `mAP`, `AP IoU 0.5`.

    A score that came with outputs and has the description of an evaluator's metric of its name is called like that.
    """
    metric, _, own = column.title.partition(" ")
    entry = evaluators().get(metric) if column.evaluator == "own_scores" else None
    meant = getattr(column, "description", None)
    same = entry is not None and any((one.name, one.description) == (metric, meant) for one in entry.metrics)
    name = metric_name(metric, metric if same else column.evaluator)
    return f"{name} {OWN.sub(lambda found: ' '.join(map(_word, found[1].split('_'))) + ' ', own)}" if own else name


def full_name(column: TitledColumn) -> str:
    """Return evaluator and metric, `Looping detection: Longest repeat`; the metric alone where that names both."""
    name = column_name(column)
    return name if name.startswith(column.evaluator_title) else f"{column.evaluator_title}: {name}"


def list_names(names: Sequence[str], most: int = 3) -> str:
    """Return `a`, `a and b` or `a, b and c`; of more than `most` names `a, b, c and 12 more`."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([*filter(None, [", ".join(names[:-1])]), *names[-1:]])


@lru_cache(maxsize=4096)
def in_words(code: str) -> str:
    """Return a code as words, the first capitalised unless the field writes it otherwise."""
    if code in WHOLE:
        return WHOLE[code]
    gain = code.startswith(GAIN)
    words = [_word(word) for word in AT.sub(r"@\1", code.removeprefix("d_") if gain else code).split("_") if word]
    if not words:
        return code
    first = words[0]
    if first.partition("@")[0] not in KNOWN.values():
        first = first[:1].upper() + first[1:]
    return " ".join(["Δ" * gain + first, *words[1:]])


def _word(word: str) -> str:
    word = word.rpartition(":")[2]  # cv_of_rouge:rougeL
    if numbered := NUMBERED.fullmatch(word):
        return f"{numbered[1].upper()}-{numbered[2]}"
    bare, mark, rank = word.partition("@")
    return KNOWN.get(bare.lower(), bare) + mark + rank
