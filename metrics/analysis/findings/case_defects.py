"""Defects that a mean hides: files that are not intact, answers too short to compare, extracts that tell nothing."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow.compute as pc

from metrics.analysis.cases.old_evidence import read_evidence
from metrics.core.arrow import stored_rows
from metrics.core.evidence import Evidence
from metrics.core.registry import evaluators
from metrics.store import Run, cache_by_run

FILES = "agent_sanity"
MOST = 200  # files that are listed
EXTRACTS = "exact_match"
LEAST_EXTRACTS = 3  # cases in which the same is found before that is no chance
EMPTY = "the (answer|summary) (is empty|has no sentence)"  # how evaluators that embed say so


@dataclass(frozen=True, slots=True)
class CaseDefect:
    """A broken file of one case (`kind` artifact), answers without any text (blank, of no evaluator in particular),
    answers that leave nothing to embed (empty), or an expression that finds the same in all answers, or nothing
    (extract).
    """

    kind: str
    model: str
    evaluator: str
    metric: str
    message: str
    affected: int
    case_ids: tuple[str, ...]


def case_defects(run: Run, most: int) -> Iterator[CaseDefect]:
    """Yield every file that is not intact, the first MOST in the order of cases, the empty answers, then the extracts.

    Of blank answers one for each model, of other empty ones one for each model and evaluator, of extracts one for each
    model, with the ids of `most` cases.
    """
    yield from _files(run)
    for model, (cases, total) in blank_answers(run).items():
        message = f"{model}: {len(cases):,} of {total:,} answers {'is' if len(cases) == 1 else 'are'} empty"
        yield CaseDefect("blank", model, "", "", message, len(cases), cases[:most])
    yield from _empty(run, most)
    yield from _extracts(run, most)


@cache_by_run(maxsize=32)
def blank_answers(run: Run) -> Mapping[str, tuple[tuple[str, ...], int]]:
    """Return by model the cases that it answered with nothing, and how many it was asked; of models with any.

    Failed calls are no answers. Nothing where the task has no answers in words, or no model gave any.
    """
    if run.spec.suite.task != "text":
        return {}
    table = stored_rows(run.input_path("outputs/outputs.parquet"), ["case_id", "model", "answer", "error"])
    if "error" in table.column_names:  # outputs have the columns that they were given
        table = table.filter(pc.is_null(table["error"]))
    if "answer" not in table.column_names:
        return {}
    models, cases, answers = (table[name].to_pylist() for name in ("model", "case_id", "answer"))
    is_blank = [not (answer or "").strip() for answer in answers]  # in Python: Arrow's scalars load pandas
    if all(is_blank):
        return {}
    asked = Counter(models)
    found: dict[str, list[str]] = {}
    for model, case, blank in zip(models, cases, is_blank, strict=True):
        if blank:
            found.setdefault(model, []).append(case)
    return {model: (tuple(dict.fromkeys(found[model])), asked[model]) for model in run.models if model in found}


def _files(run: Run) -> Iterator[CaseDefect]:
    if FILES not in run.evaluators:
        return
    found = run.query(
        """SELECT case_id, model, run, evidence FROM scores
           WHERE evaluator = ? AND value < 1 AND evidence IS NOT NULL ORDER BY position, model, run LIMIT ?""",
        [FILES, MOST],
    )
    listed = 0
    for row in found.to_dict("records"):
        case, model = str(row["case_id"]), str(row["model"])
        for name, wrong in _bad_files(read_evidence(row["evidence"])):
            if (listed := listed + 1) > MOST:
                return
            yield CaseDefect("artifact", model, FILES, FILES, f"{model}, case {case}: {name}: {wrong}", 1, (case,))


def _bad_files(evidence: Evidence | None) -> Iterator[tuple[str, str]]:
    """Yield each file that is not intact, or that was expected and is missing, with what is wrong with it."""
    if evidence is None:
        return
    for one in evidence.verdicts.get("artifacts", ()):
        if one.holds == "no":
            yield one.text, one.reason or one.label
    missing = evidence.facts.get("missing")
    for name in missing if isinstance(missing, list) else ():
        yield str(name), "expected, but the agent did not make it"


def _empty(run: Run, most: int) -> Iterator[CaseDefect]:
    known = evaluators()
    embedding = [name for name in run.evaluators if name in known and "embedder" in known[name].resources]
    if not embedding:
        return
    found = run.query(
        f"""WITH empty AS (
                SELECT DISTINCT evaluator, model, case_id, position FROM scores
                WHERE evaluator IN (SELECT unnest(?)) AND (
                    (status = 'not_applicable' AND regexp_matches(reason, '^{EMPTY}'))
                    OR regexp_matches(evidence, '"note": ?"{EMPTY}')
                ) AND model || chr(10) || case_id NOT IN (SELECT unnest(?::VARCHAR[]))
            )
            SELECT evaluator, model, count(*) AS n, min_by(case_id, position, {int(most)}) AS first
            FROM empty GROUP BY evaluator, model""",
        [embedding, [f"{model}\n{case}" for model, (cases, _) in blank_answers(run).items() for case in cases]],
    )
    rows = found.to_dict("records")
    for row in sorted(rows, key=lambda row: (embedding.index(row["evaluator"]), run.models.index(row["model"]))):
        entry, n = known[row["evaluator"]], int(row["n"])
        answers = "1 answer is" if n == 1 else f"{n:,} answers are"
        message = f"{row['model']}: {answers} too short for {entry.title}: no sentence is left to embed"
        yield CaseDefect("empty", row["model"], entry.id, entry.primary.name, message, n, tuple(map(str, row["first"])))


def _extracts(run: Run, most: int) -> Iterator[CaseDefect]:
    """Yield the models in whose answers `extract` or `boxed` finds one value, or none, though the expected differ."""
    if EXTRACTS not in run.evaluators:
        return
    found = run.query(
        """WITH parts AS (
               SELECT model, case_id, position, evidence->>'$.extracted' AS part,
                      evidence->>'$.verdicts.answer[0].expected' AS expected
               FROM scores WHERE evaluator = ? AND json_exists(evidence, '$.extracted')
           )
           SELECT model, count(*) AS n, any_value(part) AS part, min_by(case_id, position, ?) AS first FROM parts
           GROUP BY model HAVING count(DISTINCT part) + (count(part) < count(*))::INT = 1 AND count(*) >= ?
           AND count(DISTINCT expected) > 1""",
        [EXTRACTS, most, LEAST_EXTRACTS],
    )
    rows = {row["model"]: row for row in found.to_dict("records")}
    for model in filter(rows.__contains__, run.models):
        n, part, first = int(rows[model]["n"]), rows[model]["part"], rows[model]["first"]
        finds = f"the same, {part[:80]!r}," if isinstance(part, str) else "no answer"
        message = f"{model}: the extract finds {finds} in all {n:,} answers, though the expected answers differ"
        yield CaseDefect("extract", model, EXTRACTS, EXTRACTS, message, n, tuple(map(str, first)))
