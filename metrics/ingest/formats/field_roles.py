"""Which of the lists of objects that an image has is the ground truth, and which are predictions of a model each."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from metrics.core.receipt import FileQuestion
from metrics.ingest.formats.detector_records import INNER, Detection
from metrics.ingest.source import Problems

NO_TRUTH = "none"
TRUTH_FIELD = re.compile(
    r"(^|_)(ground_?truths?|gts?|truths?|true|annotations?|labels?|human|manual)(_|$)", re.IGNORECASE
)


class FieldRoles(NamedTuple):
    """The field of the ground truth ("": no list is), the fields that are a model each, and those that are neither."""

    truth: str
    models: tuple[str, ...]
    neither: tuple[str, ...] = ()

    def called(self, stem: str) -> dict[str, str]:
        """Return the name of each field's model: the field's, the file's where it only says that it is predictions."""
        return {field: stem if [field] == [*self.models] and field in INNER else field for field in self.models}

    def note(self, problems: Problems, file: str, counts: Mapping[str, int], read: Sequence[str], both: bool) -> None:
        """Say of each list whether it is read here; `both`: ground truth and predictions are read, one by one."""
        for field, count in counts.items():
            if field in read:
                what = "the ground truth" if field == self.truth else "the predictions of a model"
                problems.note(file, field, "used", what, count)
            elif field in self.neither and (not both or self.truth in read):
                problems.note(file, field, "unused", "no ground truth, and no predictions without a confidence", count)
            elif not both and field not in self.neither:
                why = "the suite has the ground truth" if field == self.truth else f"{self.truth} beside them is read"
                problems.note(file, field, "unused", why, count)


def count_objects(images: Iterable[Mapping[str, Sequence[Detection]]]) -> dict[str, int]:
    """Return how many objects each list has in all images; always empty ones only where they may have some."""
    counts: dict[str, int] = {}
    for lists in images:
        for field, objects in lists.items():
            counts[field] = counts.get(field, 0) + len(objects)
    return {field: count for field, count in counts.items() if count or field in INNER or TRUTH_FIELD.search(field)}


def assign_fields(
    problems: Problems, file: str, images: Sequence[Mapping[str, Sequence[Detection]]], counts: Mapping[str, int]
) -> FieldRoles:
    """Return what each of several lists is. Predictions have confidences; a person is asked which list without is true.

    The answer is taken from the names where one alone is named like a ground truth.
    """
    unscored = {field for lists in images for field in lists for thing in lists[field] if thing.score is None}
    plain = [field for field in counts if field in unscored or not counts[field]]
    named = [field for field in plain or counts if TRUTH_FIELD.search(field)]
    truth = plain[0] if len(plain) == 1 else ""
    if len(plain) > 1 or (not plain and named):
        likely = named[0] if named else None
        lists = "without confidences" if plain else "of objects"
        text = f"The file has several lists {lists}: which of them is the ground truth?"
        question = FileQuestion("ground_truth", text, (*(plain or counts), NO_TRUTH))
        answer = problems.ask(file, question, f"{len(plain or counts)} lists {lists}", default=likely)
        truth = "" if answer == NO_TRUTH else answer or next(iter(plain or counts))  # a preview needs no answer
    models = tuple(field for field in counts if field != truth and field not in plain)
    return FieldRoles(truth, models, tuple(field for field in plain if field != truth))
