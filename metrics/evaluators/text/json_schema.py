"""JSON schema: whether the answer is JSON with the right structure."""

import json
from typing import Any

from pydantic import Field, field_validator

from metrics.core.evaluator import CaseScore, Example, Parameters, Status, not_applicable, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators._boolean import boolean_metrics, boolean_score
from metrics.text.agents.dialogue import cut
from metrics.text.code_blocks import JSON, code_of
from metrics.text.json_text import JsonError, TooLarge, read_json, says_nothing, violations

SHOWN_CHARACTERS = 300
LONG_ANSWER = 50_000  # characters of an answer that, rather than its schema, makes a validation too long
PERSON = '{"type": "object", "required": ["name"], "properties": {"age": {"type": "integer", "minimum": 0}}}'


class JsonSchemaParameters(Parameters):
    """The schema for cases without one, and how strictly the answer is read."""

    json_schema: str = Field(
        "{}",
        max_length=1_000_000,
        description="JSON Schema for cases without their own; {} checks only that the answer is JSON.",
    )
    own_schema_only: bool = Field(
        False, description="Score only the cases with a schema of their own: where the others ask for no JSON."
    )
    check_formats: bool = Field(
        True, description="Check the format of strings: date-time, email, uri, uuid, ipv4 and other standard ones."
    )
    accept_fenced: bool = Field(
        False, description="Read only the content of the answer's first fence of JSON, if it has one."
    )

    @field_validator("json_schema", mode="before")
    @classmethod
    def _usable(cls, schema: str | dict[str, Any] | bool) -> str:
        schema = schema if isinstance(schema, str) else json.dumps(schema, default=str)
        violations(None, schema)
        if nothing := says_nothing(schema):
            raise ValueError(nothing)
        return schema


@evaluator(
    title="JSON schema",
    inputs=("answer",),
    synonyms=("structured output", "format", "valid json"),
    metrics=boolean_metrics("are JSON and valid by the schema"),
    sources=("H2O Eval Studio evaluators: JSon Schema",),
    default_needs=("json_schema",),
    standards=("valid and reliable", "secure and resilient", "outcomes analysis", "LLM05 improper output handling"),
    differs_from_source="Patterns run in RE2 and a $ref to anything outside the schema is never fetched; `format` is "
    "checked. JSON deeper than 64 levels fails. A case can have its own schema, which replaces the parameter. As in "
    "H2O contexts are not validated; retrieval_failures therefore has no value.",
    examples=(
        Example(
            "valid by the case's schema",
            {"answer": '{"name": "Ada", "age": 36}', "json_schema": PERSON},
            {"passes": 1, "failures": 0, "retrieval_failures": None, "generation_failures": 0, "parse_failures": 0},
        ),
        Example(
            "JSON that is not valid by the schema",
            {"answer": '{"age": -1}', "json_schema": PERSON},
            {"passes": 0, "failures": 1, "generation_failures": 1},
        ),
        Example("without a schema the answer only has to be JSON", {"answer": "[1, 2, 3]"}, {"passes": 1}),
        Example.not_applicable(
            "a case that asks for no JSON", {"answer": "At the desk."}, parameters={"own_schema_only": True}
        ),
        Example("NaN is not JSON", {"answer": '{"score": NaN}'}, {"passes": 0, "failures": 1}),
        Example(
            "a schema in the wrapping of an API",
            {
                "answer": '{"price": 0.3}',
                "json_schema": '{"name": "offer", "strict": true, "schema": {"properties": '
                '{"price": {"type": "number", "multipleOf": 0.1}}}}',
            },
            {"passes": 1},
        ),
        Example(
            "a schema that tests nothing",
            {"answer": "{}", "json_schema": '{"typ": "object"}'},
            {"passes": None},
            status=Status.ERROR,
        ),
        Example(
            "a date that is none",
            {"answer": '{"due": "2024-02-30"}', "json_schema": '{"properties": {"due": {"format": "date"}}}'},
            {"passes": 0, "failures": 1},
        ),
        Example(
            "fenced JSON is accepted on request",
            {"answer": 'Here you are:\n```json\n{"name": "Ada"}\n```'},
            {"passes": 1},
            parameters={"accept_fenced": True, "json_schema": PERSON},
        ),
        Example(
            "a reference to another document is never followed",
            {"answer": "{}", "json_schema": '{"$ref": "https://example.com/schema.json"}'},
            {"passes": None},
            status=Status.ERROR,
        ),
    ),
    version=4,
)
def json_schema(case: Case, parameters: JsonSchemaParameters) -> CaseScore:
    """Whether the answer is JSON and valid by the case's schema, or by the parameter's where the case has none.

    passes = 1 if the whole answer is JSON (RFC 8259: no NaN, no Infinity, no trailing comma, no prose around it) and
    violates no rule of the schema; the schema {} has no rules. With `own_schema_only` a case without its own schema has
    no value. Contexts are not validated, so retrieval_failures has no value and every failure is attributed to
    generation.

    A schema may stand in the wrapping in which an API takes it, {"name": …, "strict": …, "schema": …} or {"type":
    "json_schema", "json_schema": …}. One without a keyword that tests something is an error of the case. Multiples are
    those of decimals: 0.3 is one of 0.1.

    Limits: 64 levels, integers of 4,000 digits; beyond them the answer fails with that reason. A validation has two
    million steps (keywords, and what they compare); a schema that takes more is an error with that reason;
    an answer of more than 50,000 characters that does has failed. A duplicate
    key is accepted (the last one counts) and noted. JSON Schema drafts 3 to 2020-12; patterns run in RE2, and a $ref to
    anything outside the schema is never fetched: it is, like an invalid schema, an error of the suite and not of the
    model. A string must have the `format` of its schema (date, time, date-time, duration, email, hostname, ipv4, ipv6,
    uri, iri, uuid, json-pointer, regex and their kin; other names say nothing), unless `check_formats` is off. A byte
    order mark before the JSON is ignored. Evidence: up to 20 violations with the JSON path of each.
    """
    if parameters.own_schema_only and not case.json_schema:
        return not_applicable("the case has no JSON schema")
    answer = code_of(case.answer or "", JSON, "first") if parameters.accept_fenced else case.answer or ""
    facts: dict[str, Any] = {"violations": []}
    try:
        document = read_json(answer)
    except JsonError as failure:
        facts["violations"] = [{"path": "$", "keyword": "json", "message": f"not JSON: {failure}"}]
        return boolean_score(False, evidence=Evidence(facts=facts))
    if document.duplicates:
        facts["duplicate_keys"] = list(document.duplicates[:20])
    try:
        if nothing := says_nothing(case.json_schema or parameters.json_schema):
            return CaseScore({}, Status.ERROR, nothing)
        found = violations(document.value, case.json_schema or parameters.json_schema, formats=parameters.check_formats)
    except TooLarge as failure:
        if failure.number or len(answer) > LONG_ANSWER:
            return output_failure(str(failure))
        return CaseScore({}, Status.ERROR, str(failure))
    except JsonError as failure:
        return CaseScore({}, Status.ERROR, str(failure))
    facts["violations"] = [
        {"path": violation.path, "keyword": violation.keyword, "message": cut(violation.message, SHOWN_CHARACTERS)}
        for violation in found
    ]
    return boolean_score(not found, evidence=Evidence(facts=facts))
