"""vary_answers(): variants of answers that deserve the same score, to see what sways a judge."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from metrics import engine
from metrics.analysis.labels.judgements import judged_evaluators
from metrics.analysis.labels.manipulations import (
    LENGTHENED,
    MANIPULATIONS,
    PADDED,
    REORDERED,
    SHORTENED,
    SIGNED_OTHER,
    SIGNED_OWN,
)
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.prompt import Prompt
from metrics.core.suite import OUTPUTS, Outputs, Suite, rows_table
from metrics.judge.settings import settings_of
from metrics.perturbations.judge_made import Question, ask_all
from metrics.perturbations.sites import seeded
from metrics.perturbations.variant_rows import Skipped, new_id, variant_rows, with_variants
from metrics.store import Run, Workspace

ANSWER_KINDS = tuple(MANIPULATIONS)
UNASKED_KINDS = (PADDED, REORDERED, SIGNED_OWN)  # no judge is asked to write them
CASES_VARIED = 60  # whose answers are varied
ANOTHER = "Halyard-2"  # the name of no model
SIGNED = (SIGNED_OWN, SIGNED_OTHER)  # are made together: one is compared with the other
SPENT = dict.fromkeys(("duration_s", "cost_usd", "tokens"))  # a variant cost its model nothing
BY_NUMBER = re.compile(r"\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]")  # [2], [1, 3]: a context cited by its place
SAME = (
    "Say exactly what TEXT says, in its language and its tone: every statement, name, number, quotation and citation "
    "mark of TEXT stays, and none is added. {how} Give the new text alone."
)
PROMPTS = {
    LENGTHENED: Prompt(
        "perturbation.answer_lengthened", SAME.format(how="Use about twice as many words, by wordier phrases only.")
    ),
    SHORTENED: Prompt(
        "perturbation.answer_shortened", SAME.format(how="Use as few words as you can, about half as many.")
    ),
}
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class VariedAnswers:
    """Some cases of a suite with their variants, the outputs of both, and how many answers each kind varied.

    `skipped`: the outputs that have no variant of some kind, by their case, and why.
    """

    suite: Suite
    outputs: Outputs
    made: dict[str, int]
    skipped: tuple[Skipped, ...]


def vary_answers(
    suite: Suite,
    outputs: Outputs,
    kinds: Sequence[str] = UNASKED_KINDS,
    cases: int = CASES_VARIED,
    seed: int = 0,
    *,
    judge: Any = None,
    judge_name: str = "",
    workspace: str | Path | None = None,
    is_rehearsal: bool = False,
) -> VariedAnswers:
    """Return `cases` cases drawn at random with all models' answers, and for each of `kinds` a variant of each.

    Only the answer or the order of its contexts differs, so that a variant deserves the score of its original; see
    metrics.analysis.labels.manipulations. Of repeats the first is varied. An answer is signed twice, with `judge_name`
    and with another name. Contexts that an answer cites by number keep their order. `judge` (a model's name or the
    fields of JudgeSettings) writes the longer and the shorter answers; its replies are kept in the workspace's cache;
    in a rehearsal nobody is asked, and texts of about their length stand in for theirs.
    InputError; MissingResource without a judge to write them, JudgeDown where it does not answer.
    """
    _check(suite, kinds, cases)
    answered = pc.is_in(suite.cases["case_id"], outputs.outputs["case_id"].combine_chunks())
    there = suite.cases.filter(pc.and_(pc.is_null(suite.cases["perturbs"]), answered))
    drawn = seeded(seed, "answers").sample(range(len(there)), min(cases, len(there)))
    originals = there.take(pa.array(sorted(drawn), pa.int64()))
    kept = outputs.restricted(run=1, case_ids=originals["case_id"].combine_chunks())
    rows = kept.outputs.to_pylist()
    cache, taken = Workspace(workspace).path / "cache", set(suite.cases["case_id"].to_pylist())
    parts, changed, made, skipped = [], list[Row](), dict[str, int](), list[Skipped]()
    for kind in chain.from_iterable(SIGNED if each == SIGNED_OWN else (each,) for each in dict.fromkeys(kinds)):
        if kind in PROMPTS and not is_rehearsal:
            variants = _by_judge(PROMPTS[kind], rows, judge, cache, seed)
        else:
            variants = [_by_rule(kind, row, judge_name) for row in rows]
        new = [(row, variant) for row, variant in zip(rows, variants, strict=True) if not isinstance(variant, str)]
        skipped += [
            Skipped(row["case_id"], kind, why) for row, why in zip(rows, variants, strict=True) if isinstance(why, str)
        ]
        varied = {row["case_id"] for row, _ in new}
        part = originals.filter(pc.is_in(originals["case_id"], pa.array(sorted(varied), pa.string())))
        ids = {case_id: new_id(case_id, kind, taken) for case_id in part["case_id"].to_pylist()}
        parts.append(variant_rows(part, list(ids.values()), {"perturbation": kind}))
        changed += [row | SPENT | variant | {"case_id": ids[row["case_id"]]} for row, variant in new]
        made[kind] = len(new)
    if not changed:
        reasons = "; ".join(sorted({f"{one.kind}: {one.reason}" for one in skipped})) or "no case has an answer"
        raise InputError([InputProblem(suite.name, f"no answer can be varied ({reasons})", "texts with answers")])
    both = pa.concat_tables([kept.outputs, rows_table(changed, OUTPUTS)], promote_options="default")
    varied_suite = replace(suite, name=f"{suite.name}, answers varied", cases=with_variants(originals, parts))
    return VariedAnswers(varied_suite, replace(kept, outputs=both), made, tuple(skipped))


class JudgedAgain(NamedTuple):
    """What a run of variants takes: some answers of a run and their variants, and how that run judges."""

    varied: VariedAnswers
    evaluators: list[str]
    parameters: dict[str, dict[str, Any]]
    resources: dict[str, Any]
    name: str
    as_in: str | None = None

    def create(self, workspace: Workspace, seed: int = 0) -> Run:
        """Store the inputs and the specification of the run; engine.start or engine.execute makes it."""
        inputs = self.varied.suite, self.varied.outputs, self.evaluators, self.parameters, self.name
        return engine.create(workspace, *inputs, seed, resources=self.resources, as_in=self.as_in)


def judged_again(
    run: Run,
    kinds: Sequence[str] = UNASKED_KINDS,
    cases: int = CASES_VARIED,
    seed: int = 0,
    evaluators: Sequence[str] = (),
    budget: Mapping[str, Any] | None = None,
    is_rehearsal: bool = False,
) -> JudgedAgain:
    """Return what it takes to judge variants of a run's answers as the run judged them; see `vary_answers`.

    `evaluators`: some of those that asked its judge, default all; `budget`: of the judge, in place of the run's.
    InputError where the run has no judge, or an evaluator asked none.
    """
    judged = judged_evaluators(run)
    problems = [
        InputProblem("evaluators", repr(each), one_of(each, judged)) for each in evaluators if each not in judged
    ]
    if not judged:
        problems = [InputProblem(run.id, "no evaluator that asks a judge", "a run with judged scores")]
    if problems:
        raise InputError(problems)
    chosen = list(evaluators or judged)
    resources = dict(run.spec.resources)
    resources["judge"] = {**resources["judge"], **({} if budget is None else {"budget": dict(budget)})}
    settings = settings_of(resources["judge"])
    varied = vary_answers(
        run.suite,
        run.outputs,
        kinds,
        cases,
        seed,
        judge=settings,
        judge_name=settings.model.rpartition("/")[2],
        workspace=run.workspace.path,
        is_rehearsal=is_rehearsal,
    )
    parameters = {name: run.evaluators[name] for name in chosen}
    name = f"{run.name}: its judge on varied answers"
    return JudgedAgain(varied, chosen, parameters, resources, name, run.spec.as_in)


def _check(suite: Suite, kinds: Sequence[str], cases: int) -> None:
    problems = [
        InputProblem("kinds", repr(each), one_of(each, ANSWER_KINDS)) for each in kinds if each not in ANSWER_KINDS
    ]
    if not kinds:
        problems.append(InputProblem("kinds", "none", f"one or more of {', '.join(ANSWER_KINDS)}"))
    if cases < 1:
        problems.append(InputProblem("cases", str(cases), "1 or more"))
    if suite.task != "text":
        problems.append(InputProblem(suite.name, f"a suite of task {suite.task}", "a suite of texts"))
    if problems:
        raise InputError(problems)


def _by_rule(kind: str, row: Row, judge_name: str) -> Row | str:
    """Return what a variant of an output changes, or why it has none."""
    answer, contexts = row["answer"] or "", row["retrieved_contexts"] or []
    if kind == REORDERED:
        if len(contexts) < 2:
            return "it has fewer than two contexts"
        if BY_NUMBER.search(answer) or row["citations"]:
            return "its answer cites contexts by number"
        turned = {"retrieved_contexts": contexts[::-1]}
        return turned | ({"context_ids": row["context_ids"][::-1]} if row["context_ids"] else {})
    if not answer.strip():
        return "it has no answer"
    if kind == SHORTENED:
        return {"answer": answer[: len(answer) // 2 + 1]}
    if kind in (PADDED, LENGTHENED):
        return {"answer": f"{answer.rstrip()}\n\n{answer.strip()}"}
    name = judge_name if kind == SIGNED_OWN else ANOTHER
    return {"answer": f"{answer.rstrip()}\n\n— {name}"} if name else "the judge has no name"


def _by_judge(prompt: Prompt, rows: Sequence[Row], judge: Any, cache: Path, seed: int) -> list[Row | str]:
    asked = [row for row in rows if (row["answer"] or "").strip()]
    replies = iter(ask_all([Question(prompt, row["answer"], ()) for row in asked], judge, cache, seed))
    found: list[Row | str] = []
    for row in rows:
        reply = next(replies) if (row["answer"] or "").strip() else None
        if reply is None:
            found.append("it has no answer")
        elif reply.text is None:
            found.append(reply.reason)
        else:
            same = reply.text == row["answer"].strip()
            found.append("the judge returned its text unchanged" if same else {"answer": reply.text})
    return found
