"""JSON schema: whether the answer is JSON of the right structure."""

import re
from typing import Any

from pydantic import Field, field_validator

from metrics.core.evaluator import CaseScore, Example, Parameters, Status, evaluator
from metrics.core.suite import Case
from metrics.evaluators._boolean import boolean_metrics, verdict
from metrics.text.json_text import JsonError, read_json, violations

SHOWN_CHARACTERS = 300
FENCE = re.compile(r"```(?:json)?[ \t]*\n", re.IGNORECASE)
PERSON = '{"type": "object", "required": ["name"], "properties": {"age": {"type": "integer", "minimum": 0}}}'


class JsonSchemaParameters(Parameters):
    """The schema of cases that bring none, and how strictly the answer is read."""

    json_schema: str = Field(
        "{}",
        max_length=1_000_000,
        description="JSON Schema for cases without one of their own; {} checks only that the answer is JSON.",
    )
    accept_fenced: bool = Field(
        False, description="Take the content of the answer's first ```json fence where it has one, and ignore the rest."
    )

    @field_validator("json_schema")
    @classmethod
    def _usable(cls, schema: str) -> str:
        violations(None, schema)
        return schema


@evaluator(
    id="json_schema",
    title="JSON schema",
    tasks=("text",),
    inputs=("answer",),
    metrics=boolean_metrics("are JSON and valid by the schema"),
    sources=("H2O Eval Studio evaluators: JSon Schema",),
    default_needs=("json_schema",),
    standards=("NIST AI RMF: valid and reliable", "NIST AI RMF: secure and resilient", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "valid by the case's schema",
            {"answer": '{"name": "Ada", "age": 36}', "json_schema": PERSON},
            {"passes": 1, "failures": 0, "retrieval_failures": None, "generation_failures": 0, "parse_failures": 0},
        ),
        Example(
            "JSON, but not valid",
            {"answer": '{"age": -1}', "json_schema": PERSON},
            {"passes": 0, "failures": 1, "generation_failures": 1},
        ),
        Example("without a schema only JSON is asked for", {"answer": "[1, 2, 3]"}, {"passes": 1}),
        Example("NaN is not JSON", {"answer": '{"score": NaN}'}, {"passes": 0, "failures": 1}),
        Example(
            "a fence is not JSON, unless accepted",
            {"answer": 'Here you are:\n```json\n{"name": "Ada"}\n```'},
            {"passes": 1},
            parameters={"accept_fenced": True, "json_schema": PERSON},
        ),
        Example(
            "a reference to another place is never followed",
            {"answer": "{}", "json_schema": '{"$ref": "https://example.com/schema.json"}'},
            {"passes": None},
            status=Status.ERROR,
        ),
    ),
)
def json_schema(case: Case, parameters: JsonSchemaParameters) -> CaseScore:
    """Whether the answer is JSON and valid by the case's schema, or by the parameter's where the case has none.

    passes = 1 where the whole answer reads as JSON (RFC 8259: no NaN, no Infinity, no trailing comma, no prose around
    it) and breaks no rule of the schema; the schema {} leaves it at reading. Contexts are not validated, so
    retrieval_failures has no value and every failure is the generation's.

    Bounds: 64 levels, integers of 4,000 digits; past them the answer fails, saying so. A key given twice passes (the
    last one counts) and is noted. JSON Schema drafts 3 to 2020-12; patterns run in RE2, `format` is not checked, and a
    $ref to anything outside the schema is never fetched: that, or a schema that is none, is an error of the suite and
    not of the model. Evidence: up to 20 violations with the JSON path of each.
    """
    answer = _fenced(case.answer or "") if parameters.accept_fenced else case.answer or ""
    evidence: dict[str, Any] = {"violations": []}
    try:
        document = read_json(answer)
    except JsonError as failure:
        evidence["violations"] = [{"path": "$", "keyword": "json", "message": f"not JSON: {failure}"}]
        return verdict(False, evidence=evidence)
    if document.duplicates:
        evidence["duplicate_keys"] = list(document.duplicates[:20])
    try:
        found = violations(document.value, case.json_schema or parameters.json_schema)
    except JsonError as failure:
        return CaseScore({}, Status.ERROR, str(failure))
    evidence["violations"] = [
        {"path": violation.path, "keyword": violation.keyword, "message": _cut(violation.message)}
        for violation in found
    ]
    return verdict(not found, evidence=evidence)


def _fenced(answer: str) -> str:
    opening = FENCE.search(answer)
    if opening is None:
        return answer
    closing = answer.find("```", opening.end())
    return answer[opening.end() :] if closing < 0 else answer[opening.end() : closing]


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
