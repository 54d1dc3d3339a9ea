"""The records of a JSON document, however it lays them out: wrapped, as columns, as pandas writes frames, as SQuAD."""

from collections.abc import Iterator, Mapping
from typing import Any

from metrics.ingest.tables.columns import OUTPUT_ALIASES, SUITE_ALIASES, fold

WRAPPERS = (
    "data", "rows", "records", "examples", "cases", "test_cases", "items", "results", "outputs", "evals", "samples",
    "goldens", "tests", "test_results", "evaluations", "questions", "instances", "entries", "dataset",
)  # fmt: skip
KNOWN = {name for aliases in (SUITE_ALIASES, OUTPUT_ALIASES) for own in aliases.items() for name in (own[0], *own[1])}
ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
Record = dict[str, Any]


def held_records(document: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    """Return name and list of what an object has under usual names; of several, those with objects in them."""
    held = [(name, value) for name, value in document.items() if fold(name) in WRAPPERS and isinstance(value, list)]
    full = [own for own in held if any(isinstance(record, Mapping) for record in own[1])]
    return full if len(full) == 1 else held


def records_in(document: Any) -> tuple[list[Any] | None, Record]:
    """Return the records of an object, None where it has none or several lists of them, and what it has beside."""
    if not isinstance(document, Mapping):
        return None, {}
    records = regroup(document)
    if records is not None:
        stated = ("index", "version") if "data" in document else ()
        return records, {name: document[name] for name in stated if name in document}
    held = held_records(document)
    if len(held) == 1:
        return held[0][1], {name: value for name, value in document.items() if name != held[0][0]}
    wrapped = [name for name, value in document.items() if fold(str(name)) in WRAPPERS and isinstance(value, Mapping)]
    if held or len(wrapped) != 1:
        return None, {}
    inner, beside = records_in(document[wrapped[0]])
    rest = {name: value for name, value in document.items() if name != wrapped[0]}
    return inner, rest | ({wrapped[0]: beside} if beside else {})


def regroup(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the records of an object that does not list them one after the other; None for others."""
    columns, data = document.get("columns"), document.get("data")
    if isinstance(columns, list) and isinstance(data, list):
        names = list(map(str, columns))  # a data frame that pandas writes as columns, index and data
        fits = [isinstance(row, list) and len(row) == len(names) for row in data]
        return [dict(zip(names, row, strict=True)) if fit else row for row, fit in zip(data, fits, strict=True)]
    if isinstance(data, list) and any(isinstance(one, Mapping) and "paragraphs" in one for one in data):
        return list(_squad(data))
    return _by_field(document) if any(fold(str(name)) in KNOWN for name in document) else _by_id(document)


def _by_field(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the records of an object with the values of each field: a list of them, or an object by row."""
    values = list(document.values())
    if len(values) < 2:
        return None
    if all(isinstance(value, list) and len(value) == len(values[0]) for value in values):
        if any(isinstance(row, Mapping) for _, own in held_records(document) for row in own):
            return None
        return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)]
    if not all(isinstance(value, Mapping) and value.keys() == values[0].keys() for value in values):
        return None
    ids = all(not str(row).isdecimal() for row in values[0])  # of answers by case, as HotpotQA's are
    return [({"id": row} if ids else {}) | {name: own[row] for name, own in document.items()} for row in values[0]]


def _by_id(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the records of an object that has them, or answers, by their ids."""
    values = list(document.values())
    if len(values) > 1 and all(isinstance(value, str) for value in values):  # SQuAD's predictions
        return [{"id": name, "answer": value} for name, value in document.items()]
    if not all(isinstance(value, Mapping) for value in values):
        return None
    if len(values) == 1 and fold(str(next(iter(document)))) in WRAPPERS and regroup(values[0]) is not None:
        return None
    known = any(fold(str(name)) in KNOWN for value in values for name in value)
    return [{"id": name, **value} for name, value in document.items()] if known else None


def _squad(data: list[Any]) -> Iterator[Any]:
    """Yield the questions of SQuAD, with what their passage and article say; what is no object as it is."""
    for article in data:
        for paragraph in _list_at(article, "paragraphs"):
            for asked in _list_at(paragraph, "qas"):
                if not isinstance(asked, Mapping):
                    yield asked
                    continue
                answers = [one for one in _list_at(asked, "answers") if isinstance(one, Mapping)]
                keys = dict.fromkeys(str(key) for one in answers for key in one)
                held = {key: [one.get(key) for one in answers] for key in keys} or {"text": []}
                made = {**article, **paragraph, **asked, "answers": held}
                yield {name: value for name, value in made.items() if name not in ("paragraphs", "qas")}


def _list_at(value: Any, name: str) -> list[Any]:
    """Return the list of that name in an object; in its place the value itself where it is no object."""
    if not isinstance(value, Mapping):
        return [value]
    held = value.get(name)
    return held if isinstance(held, list) else [] if held is None else [held]


# a record without one of these is as it should be, but for an answer in parts
TIDIED = ("query", "turns", "conversations", "context", "supporting_facts", "datum", "groundtruth", "filepath")
FIFTYONE = {  # of its fields: what of it is the truth, what is predicted, and how sure the model is
    "Classification": {"label": ("label", "predicted_label"), "confidence": ("", "score")},
    "Regression": {"value": ("true_value", "predicted_value")},
}


def tidy(record: Record) -> Record:
    """Return a record of LangChain, DeepEval, ragas or Valor by the names that values have elsewhere; others as is."""
    if record.keys().isdisjoint(TIDIED) and not isinstance(record.get("answer", record.get("Answer")), dict):
        return record
    if "filepath" in record and isinstance(record.get("ground_truth"), Mapping):
        return _of_fiftyone(record)
    if record.keys() >= {"datum", "annotations"}:
        return _of_valor(record)
    if record.keys() >= {"uid", "groundtruth", "predictions", "scores"}:  # valor-lite's Classification
        classes, scores = (_list_at(record, name) for name in ("predictions", "scores"))
        if len(classes) != len(scores):
            return record
        named = {"uid": "case_id", "groundtruth": "label"}
        rest = {named.get(name, name): value for name, value in record.items() if name != "predictions"}
        return rest | {"scores": {str(name): score for name, score in zip(classes, scores, strict=True)}}
    if record.keys() >= {"query", "answer", "result"}:  # LangChain's QA: the answer of the data set, and the chain's
        named = {"answer": "expected_answer", "result": "answer"}
        return {named.get(name, name): value for name, value in record.items()}
    if record.keys() >= {"query", "result"} and "answer" not in record:
        return {"answer" if name == "result" else name: value for name, value in record.items()}
    key = "Answer" if "Answer" in record else "answer"
    answer = record.get(key)  # TriviaQA's
    if isinstance(answer, Mapping):
        value, aliases = (next((name for name in answer if fold(name) == part), part) for part in ("value", "aliases"))
        if isinstance(answer.get(aliases), list) and value in answer:
            texts = list(dict.fromkeys(text for text in (answer[value], *answer[aliases]) if isinstance(text, str)))
            return {**record, "expected_answers": texts, key: {**answer, value: None, aliases: None}}
    if record.keys() >= {"question", "answer", "supporting_facts"}:  # HotpotQA's
        return {("expected_answer" if name == "answer" else name): value for name, value in record.items()}
    key = "turns" if "turns" in record else "conversations"  # DeepEval's ConversationalTestCase, ShareGPT
    turns = record.get(key)
    if isinstance(turns, list) and turns and "messages" not in record and all(map(_is_message, turns)):
        return {("messages" if name == key else name): value for name, value in record.items()}
    documents = record.get("context")
    if isinstance(documents, list) and documents and all(map(_is_document, documents)):
        return {("retrieved_contexts" if name == "context" else name): value for name, value in record.items()}
    return record


def _of_fiftyone(record: Record) -> Record:
    """Return FiftyOne's sample with a ground truth and one prediction, classes or numbers, as columns; others as is."""
    kinds = {name: str(value.get("_cls")) for name, value in record.items() if isinstance(value, Mapping)}
    kind = kinds.get("ground_truth", "")
    own = [name for name in kinds if kinds[name] == kind]
    if kind not in FIFTYONE or len(own) != 2:
        return record
    made = {name: value for name, value in record.items() if name not in own}
    for name in own:
        for key, columns in FIFTYONE[kind].items():
            made[columns[name != "ground_truth"]] = record[name].get(key)
    return {name: value for name, value in made.items() if name}


def _of_valor(record: Record) -> Record:
    """Return Valor's GroundTruth or Prediction of a class: its labels by key, with their scores if there are some."""
    datum, annotations = record["datum"], record["annotations"]
    if not isinstance(datum, Mapping) or not isinstance(annotations, list):
        return record
    labels = [label for each in annotations for label in _list_at(each, "labels")]
    if not all(isinstance(label, Mapping) and isinstance(label.get("key"), str) for label in labels):
        return record
    rest = [{name: value for name, value in each.items() if name != "labels" and value} for each in annotations]
    made: Record = {**datum, "case_id": datum.get("uid"), "annotations": rest if any(rest) else None}
    for label in labels:
        if label.get("score") is None:
            made.setdefault("label", {})[label["key"]] = label.get("value")
        else:
            made.setdefault("scores", {}).setdefault(label["key"], {})[str(label.get("value"))] = label["score"]
    return {name: value for name, value in made.items() if name != "uid" and value}


def _is_message(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    typed = "content" in value and ("role" in value or str(value.get("type")) in ROLES)
    return typed or value.keys() >= {"from", "value"}


def _is_document(value: Any) -> bool:
    inner = value.get("kwargs", value) if isinstance(value, Mapping) else None
    return isinstance(inner, Mapping) and "page_content" in inner
