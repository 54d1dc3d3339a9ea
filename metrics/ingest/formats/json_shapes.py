"""The records of a JSON document, however it lays them out: wrapped, as columns, as pandas writes frames, as SQuAD."""

from collections.abc import Iterator, Mapping
from typing import Any

from metrics.ingest.tables.columns import OUTPUT_ALIASES, SUITE_ALIASES, fold

WRAPPERS = (
    "data", "rows", "records", "examples", "cases", "test_cases", "items", "results", "outputs", "evals", "samples",
    "goldens", "test_results", "evaluations", "questions", "instances", "entries", "dataset",
)  # fmt: skip
KNOWN = {name for aliases in (SUITE_ALIASES, OUTPUT_ALIASES) for own in aliases.items() for name in (own[0], *own[1])}
ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
Record = dict[str, Any]


def held_records(document: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    """Return name and list of what an object has under usual names; of several, those with objects in them."""
    held = [(name, value) for name, value in document.items() if fold(name) in WRAPPERS and isinstance(value, list)]
    full = [own for own in held if any(isinstance(record, Mapping) for record in own[1])]
    return full if len(full) == 1 else held


def inner_document(document: Any) -> Any:
    """Return the object under the only usual name, where it and not the document holds a list of records."""
    if not isinstance(document, Mapping) or held_records(document):
        return document
    inner = [value for name, value in document.items() if fold(str(name)) in WRAPPERS and isinstance(value, Mapping)]
    return inner[0] if len(inner) == 1 and len(held_records(inner[0])) == 1 else document


def beside_records(document: Any) -> Record:
    """Return what a document has beside the only list of its records; nothing where there is none."""
    inner = inner_document(document)
    held = held_records(inner) if isinstance(inner, Mapping) else []
    if len(held) != 1:
        return {}
    return {
        name: {key: own for key, own in value.items() if key != held[0][0]} if value is inner else value
        for name, value in document.items()
        if value is not held[0][1]
    }


def laid_out(document: Any) -> list[Any] | None:
    """Return the records of a document that lists them in another way than one after the other; None for others."""
    if not isinstance(document, Mapping) or not document:
        return None
    if isinstance(document.get("columns"), list) and isinstance(document.get("data"), list):
        return _split(document["columns"], document["data"])
    data = document.get("data")
    if isinstance(data, list) and any(isinstance(one, Mapping) and "paragraphs" in one for one in data):
        return list(_squad(data))
    values = list(document.values())
    named = any(fold(str(name)) in KNOWN for name in document)
    if named and all(isinstance(value, list) for value in values) and len({len(value) for value in values}) == 1:
        return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)] if len(values) > 1 else None
    if not all(isinstance(value, Mapping) for value in values):
        return None
    inner = {str(name) for value in values for name in value}
    if named and len(values) > 1 and all(value.keys() == values[0].keys() for value in values):
        return [{name: own[row] for name, own in document.items()} for row in values[0]]
    if any(fold(name) in KNOWN for name in inner):
        return [{"id": name, **value} for name, value in document.items()]
    return None


def _split(columns: list[Any], data: list[Any]) -> list[Any]:
    """Return the rows of a data frame that pandas writes as columns, index and data."""
    return [
        dict(zip(map(str, columns), row, strict=True)) if isinstance(row, list) and len(row) == len(columns) else row
        for row in data
    ]


def _squad(data: list[Any]) -> Iterator[Any]:
    """Yield the questions of SQuAD, with their passage and title."""
    for article in data:
        for paragraph in article.get("paragraphs") or [] if isinstance(article, Mapping) else []:
            for asked in paragraph.get("qas") or [] if isinstance(paragraph, Mapping) else []:
                if not isinstance(asked, Mapping):
                    yield asked
                    continue
                answers = [one for one in asked.get("answers") or [] if isinstance(one, Mapping)]
                texts = list(dict.fromkeys(str(one.get("text", "")) for one in answers))
                places = [one["answer_start"] for one in answers if "answer_start" in one]
                beside = {"title": article.get("title"), "context": paragraph.get("context")}
                yield {**beside, **asked, "answers": {"text": texts, "answer_start": places}}


def tidy(record: Record) -> Record:
    """Return a record of LangChain, DeepEval or ragas under the names that its values have elsewhere; others as is."""
    if record.keys() >= {"query", "answer", "result"}:  # LangChain's QA: the answer of the data set, and the chain's
        named = {"answer": "expected_answer", "result": "answer"}
        return {named.get(name, name): value for name, value in record.items()}
    if record.keys() >= {"query", "result"} and "answer" not in record:
        return {"answer" if name == "result" else name: value for name, value in record.items()}
    told = record.get("answer")
    if isinstance(told, Mapping) and {"value", "aliases"} <= told.keys() and isinstance(told["aliases"], list):
        texts = [text for text in dict.fromkeys([told["value"], *told["aliases"]]) if isinstance(text, str)]  # TriviaQA
        return {**record, "expected_answers": texts, "answer": {**told, "value": None, "aliases": None}}
    turns = record.get("turns")  # DeepEval's ConversationalTestCase
    if isinstance(turns, list) and turns and "messages" not in record and all(map(_is_message, turns)):
        return {("messages" if name == "turns" else name): value for name, value in record.items()}
    documents = record.get("context")
    if isinstance(documents, list) and documents and all(map(_is_document, documents)):
        return {("retrieved_contexts" if name == "context" else name): value for name, value in record.items()}
    return record


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and "content" in value and ("role" in value or value.get("type") in ROLES)


def _is_document(value: Any) -> bool:
    inner = value.get("kwargs", value) if isinstance(value, Mapping) else None
    return isinstance(inner, Mapping) and "page_content" in inner
