"""Cases that people's labels, or how they were made, call good or bad: what thresholds are set and measured on."""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from metrics.core.suite import Case
from tests.benchmarks.bench_mtrag_embeddings import DATA as MTRAG, read_cases

SHARED = MTRAG.parent
CORPORA = Path(__file__).parents[1] / "corpora"
GOOD_RATING = 3.5  # mean of three raters, of 1 to 4


@dataclass(frozen=True, slots=True)
class Item:
    """A case, whether it is good, and its cluster: the passage, question or conversation that it shares with others."""

    cluster: str
    case: Case
    good: bool


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """A set of labelled cases: its name, what is good in it, and how to read it."""

    name: str
    about: str
    read: Callable[[], Iterator[Item]]


def case(cluster: str, **fields: Any) -> Case:
    return Case.of(case_id=cluster, model="m", **fields)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def qa(good: str, bad: str) -> Callable[[], Iterator[Item]]:
    """Answers to the questions of our own passages: those in the column `good` and those in the column `bad`."""

    def read() -> Iterator[Item]:
        for row in lines(CORPORA / "grounding_qa.jsonl"):
            for column, right in ((good, True), (bad, False)):
                given = {"question": row["question"], "retrieved_contexts": [row["passage"]]}
                expected = [row["right_sentence"]]
                yield Item(row["id"], case(row["id"], **given, answer=row[column], expected_answers=expected), right)

    return read


def begin(part: str) -> Callable[[], Iterator[Item]]:
    """Answers of dialogue systems that annotators found fully attributable to a passage, or not."""

    def read() -> Iterator[Item]:
        with (SHARED / "begin" / f"begin_dev_{part}.tsv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                if row["begin_label"] == "Generic" or not row["knowledge"]:
                    continue
                given = {"question": row["message"], "retrieved_contexts": [row["knowledge"]]}
                passage = row["knowledge"][:200]
                yield Item(passage, case(passage, **given, answer=row["response"]), row["begin_label"] == FULLY)

    return read


FULLY = "Fully attributable"


def mtrag(rating: str, reference: bool) -> Callable[[], Iterator[Item]]:
    """Answers in conversations, rated by three people; with or without the written reference answers."""

    def read() -> Iterator[Item]:
        people = pd.read_csv(MTRAG / "human_labels.csv").groupby(["case_id", "model"])[rating].mean()
        for one in read_cases():
            if (one.case_id, one.model) in people.index and (reference or one.model != "reference"):
                rated = people.loc[(one.case_id, one.model)]
                yield Item(one.case_id.partition("<")[0], one, bool(rated >= GOOD_RATING))

    return read


def clapnq(part: str = "answerable") -> list[dict[str, Any]]:
    """The questions of a part of CLAPNQ, answerable or unanswerable by their passage; none where it is absent."""
    file = SHARED / "clapnq" / f"clapnq_dev_{part}.jsonl"
    return list(lines(file)) if file.is_file() else []


def passages_of_questions() -> Iterator[Item]:
    """A question of a search engine with its gold passage, and with that of the next question."""
    rows = clapnq()
    for place, row in enumerate(rows):
        for shift in (0, 1):
            text = rows[(place + shift) % len(rows)]["passages"][0]["text"]
            yield Item(row["id"], case(row["id"], question=row["input"], retrieved_contexts=[text]), shift == 0)


def unanswerable_passages() -> Iterator[Item]:
    """Questions with a passage that answers them, and questions with one that was found but does not."""
    for good, part in ((True, "answerable"), (False, "unanswerable")):
        for row in clapnq(part):
            text = row["passages"][0]["text"]
            yield Item(row["id"], case(row["id"], question=row["input"], retrieved_contexts=[text]), good)


def ranked_passages() -> Iterator[Item]:
    """Eight passages, one of them gold: good where it stands first, bad where it stands third or later."""
    rows = clapnq()
    for place, row in enumerate(rows):
        others = [rows[(place + step) % len(rows)]["passages"][0]["text"] for step in range(1, 8)]
        rank = 0 if place % 4 < 2 else 2 + place % 5
        contexts = [*others[:rank], row["passages"][0]["text"], *others[rank:]]
        yield Item(row["id"], case(row["id"], question=row["input"], retrieved_contexts=contexts), rank == 0)


def answers_of_questions() -> Iterator[Item]:
    """A question with an annotator's answer, and with that to the next question."""
    rows = clapnq()
    for place, row in enumerate(rows):
        for shift in (0, 1):
            answer = rows[(place + shift) % len(rows)]["output"][0]["answer"]
            yield Item(row["id"], case(row["id"], question=row["input"], answer=answer), shift == 0)


def two_annotators() -> Iterator[Item]:
    """An annotator's answer beside another annotator's to the same question, and to the next question."""
    rows = [row for row in clapnq() if len(row["output"]) > 1]
    for place, row in enumerate(rows):
        for shift in (0, 1):
            answer = rows[(place + shift) % len(rows)]["output"][1]["answer"]
            expected = [row["output"][0]["answer"]]
            yield Item(row["id"], case(row["id"], answer=answer, expected_answers=expected), shift == 0)


def same_steps() -> Iterator[Item]:
    """A step of a procedure beside its paraphrase, and beside another step of the same procedure."""
    for number, row in enumerate(lines(CORPORA / "step_pairs.jsonl")):
        for column, same in (("same", True), ("other", False)):
            yield Item(str(number), case(str(number), answer=row[column], expected_answers=[row["step"]]), same)
