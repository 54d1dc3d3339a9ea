"""Agent sanity: whether the files that an agent made are intact."""

from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Status, not_applicable, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.suite import Case
from metrics.text.agents.artifacts import MOST_BYTES, Artifact, ArtifactError, artifacts_of, complaints
from metrics.text.json_text import JsonError

SHOWN_ARTIFACTS = 200


class SanityParameters(Parameters):
    """What the agent was expected to make."""

    expected: tuple[str, ...] = Field(
        (),
        description="Names that every case's artifacts must include, * for any characters: report.json, charts/*.png; "
        "a name without folders is looked for in all of them.",
    )
    required_fields: tuple[str, ...] = Field(
        (), description="Fields that every JSON object, and columns that every CSV table, must have."
    )


@evaluator(
    tasks=("agent", "text"),
    inputs=("trace",),
    instead={"trace": "artifacts"},
    metrics=Metric("agent_sanity", "Share of the artifacts that are intact."),
    sources=("H2O Eval Studio evaluators: Agent sanity check",),
    standards=(
        "valid and reliable",
        "safe",
        "ongoing monitoring",
        "LLM05 improper output handling",
        "LLM06 excessive agency",
    ),
    examples=(
        Example(
            "two of four are intact: one is broken JSON, one is blank",
            {
                "artifacts": [
                    '{"name": "report.json", "content": {"total": 3}}',
                    '{"name": "data.csv", "content": "id,total\\n1,3\\n"}',
                    '{"name": "raw.json", "content": "{\\"total\\": 3,}"}',
                    '{"name": "notes.md", "content": " "}',
                ]
            },
            {"agent_sanity": 0.5},
        ),
        Example(
            "artifacts of a trace, and one expected file is missing",
            {"trace": '{"steps": [{"tool": "write", "artifacts": [{"name": "run.py", "content": "print(1)"}]}]}'},
            {"agent_sanity": 0.5},
            parameters={"expected": ["*.py", "report.json"]},
        ),
        Example(
            "JSON artifacts must be valid by the case's schema",
            {
                "artifacts": ['{"name": "person.json", "content": {"age": -1}}'],
                "json_schema": '{"properties": {"age": {"minimum": 0}}}',
            },
            {"agent_sanity": 0.0},
        ),
        Example(
            "a path without content cannot be checked", {"artifacts": ["out/report.json"]}, status=Status.NOT_APPLICABLE
        ),
        Example("the trace cannot be read", {"trace": "{"}, {"agent_sanity": 0.0}),
    ),
    differs_from="json_schema validates the answer itself; step_alignment and rubric judge what the agent did.",
    differs_from_source="The checks go by kind of file and are Assay's, as H2O names them only in outline (lint of "
    "JSON, empty content and pages, structure and fields). Any agent's trace or artifacts are read, not only "
    "h2oGPTe's. A case without artifacts is not applicable.",
    version=2,
)
def agent_sanity(case: Case, parameters: SanityParameters) -> CaseScore:
    """The share of an agent's artifacts that are intact: they parse, are not empty, and have the expected structure.

        agent_sanity = intact artifacts / (artifacts with content or missing + expected ones that are missing)

    Artifacts come from the output's `artifacts` column and from its trace. In the column each is a JSON object with
    `name`, `kind` if the file extension does not tell it, and `content` (text or JSON) or `content_base64`; in the
    trace (JSON) such objects are listed under `artifacts`, of the trace or of its `steps`. Files of a folder or zip
    that was given with the outputs belong to the case that names them or whose folder they are in; a named file that is
    not among them is not intact. A bare path without such files has only a name: it can meet an expectation, but is not
    scored.

    Every artifact must not be blank, must have a name that stays inside the archive, and at most 50 MB. *json*,
    *jsonl*: they parse, are not empty, have the required fields, and JSON is valid by the case's schema, if any. *csv*,
    *tsv*: a header, rows of the same width, the required columns. *html*: closed elements and something visible.
    *python*: valid syntax. *image*: PNG, JPEG, GIF or WebP that decodes. *pdf*: complete, and something is drawn on
    each page (of the first 500). Nothing is executed, fetched or unpacked.

    A case without anything to score is not applicable; one whose trace or entry cannot be read has 0.
    Evidence: each artifact with its kind, size and defects, and the expected names that are missing.
    """
    try:
        artifacts = artifacts_of(case.artifacts, case.trace)
        checked = [_check(_read_artifact(artifact, case.files), case.json_schema, parameters) for artifact in artifacts]
    except ArtifactError as failure:
        return output_failure(str(failure))
    except JsonError as failure:
        return CaseScore({}, Status.ERROR, str(failure))
    except OSError as failure:
        return CaseScore({}, Status.ERROR, f"a stored artifact cannot be read: {failure.strerror or failure}")
    names = [artifact.name for artifact in artifacts if not artifact.missing]
    missing = [wanted for wanted in parameters.expected if not any(_is(name, wanted) for name in names)]
    scored = sum(artifact.holds != "unknown" for artifact in checked)
    evidence = Evidence({"artifacts": checked[:SHOWN_ARTIFACTS]}, {"found": len(artifacts), "missing": missing})
    if not scored and not missing:
        reason = "the artifacts have no content to check" if artifacts else "the agent made no artifacts"
        return not_applicable(reason, evidence)
    intact = sum(artifact.holds == "yes" for artifact in checked)
    return CaseScore({"agent_sanity": intact / (scored + len(missing))}, evidence=evidence)


def _is(name: str, wanted: str) -> bool:
    return fnmatchcase(name, wanted) or ("/" not in wanted and fnmatchcase(name.rpartition("/")[2], wanted))


def _read_artifact(artifact: Artifact, files: Path | None) -> Artifact:
    """Return the artifact with the content of its stored file; of a file that is too large only the beginning."""
    if artifact.stored is None or files is None:
        return artifact
    with (files / artifact.stored).open("rb") as file:
        return replace(artifact, content=file.read(MOST_BYTES + 1))


def _check(artifact: Artifact, schema: str | None, parameters: SanityParameters) -> Verdict:
    known = artifact.content is not None or artifact.missing
    defects, remarks = complaints(artifact, schema, parameters.required_fields) if known else ([], [])
    size = None if artifact.content is None else len(artifact.content)
    facts = {"kind": artifact.kind, "bytes": size, "remarks": remarks}
    label = ("defective" if defects else "intact") if known else "not checked"
    return Verdict(artifact.name, yes_or_no(not defects if known else None), label, "; ".join(defects), facts=facts)
