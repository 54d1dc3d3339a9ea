"""Classes that a detector numbers in its own way: which class of the suite each number is."""

from collections.abc import Iterable, Sequence
from typing import Any

from metrics.core.receipt import FileQuestion
from metrics.core.suite import Suite
from metrics.ingest.problems import Problems

# the ids of the 80 classes of COCO 2017, which number them from 1 to 90 with gaps
COCO_GAPS = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
COCO_IDS = tuple(number for number in range(1, 91) if number not in COCO_GAPS)


def class_numberings(suite: Suite) -> dict[str, dict[int, str]]:
    """Return the classes of a suite by number, in each numbering that a detector may use."""
    numberings = {"from_0": dict(enumerate(suite.labels)), "from_1": dict(enumerate(suite.labels, 1))}
    if suite.category_ids:
        numberings = {"ids": dict(zip(suite.category_ids, suite.labels, strict=True))} | numberings
    if len(suite.labels) == len(COCO_IDS):
        numberings["coco_ids"] = dict(zip(COCO_IDS, suite.labels, strict=True))
    return numberings


def classes_by_number(
    problems: Problems, file: str, place: str, numbers: Iterable[int], suite: Suite
) -> dict[int, str]:
    """Return the class of each number in the only numbering that has all of them, else in that of an answer.

    Where several fit and mean different classes it is asked; {} where none fits.
    """
    found = set(numbers)
    fitting = {name: classes for name, classes in class_numberings(suite).items() if found <= classes.keys()}
    different = {
        tuple(classes[number] for number in sorted(found)): name for name, classes in reversed(fitting.items())
    }
    if not different:
        return {}
    names = sorted(different.values(), key=list(fitting).index)
    text = "Which numbers have the classes: the suite's ids, or their places in its list, from 0 or from 1?"
    span = f"classes by number, {min(found)} to {max(found)}"
    question = FileQuestion("class_numbers", text, tuple(fitting))
    chosen = names[0] if len(names) == 1 else None
    if chosen == "ids":
        return fitting[chosen]  # as the ground truth has them
    answer = problems.ask(file, question, span, default=chosen, place=place)
    return fitting[answer] if answer else {}


def result_classes(problems: Problems, file: str, results: Sequence[Any], suite: Suite) -> dict[int, str]:
    """Return the class of each `category_id` in COCO's results: the suite's ids, else as trainers number theirs.

    A suite of YOLO numbers its classes from 0. Ultralytics writes results that number them from 1, or as COCO does
    where there are its 80 classes: seen where a number is none of the suite's, and 0 is not there.
    """
    known = dict(zip(suite.category_ids, suite.labels, strict=False))
    if suite.category_ids != tuple(range(len(known))):
        return known
    given = [result.get("category_id") for result in results if isinstance(result, dict)]
    numbers = {number for number in given if isinstance(number, int) and not isinstance(number, bool)}
    if not numbers or 0 in numbers or numbers <= known.keys():
        return known
    return classes_by_number(problems, file, "[].category_id", numbers, suite) or known
