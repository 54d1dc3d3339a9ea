"""Grades that a judge gives: whole numbers, and UMBRELA's grade of a passage, which several evaluators share."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, Literal

from metrics.core.errors import BudgetSpent, JudgeDown, JudgeError, Unreadable
from metrics.core.evaluator import Status
from metrics.core.evidence import Verdict, yes_or_no
from metrics.core.prompt import Prompt
from metrics.judge import worked_pairs
from metrics.judge.asking import Judge, Reply
from metrics.judge.label_probabilities import label_text
from metrics.judge.long_texts import left_by, pieces
from metrics.judge.steps import together

SHOWN_SHARE = 0.005  # of a label: below, its probability is not shown
RELEVANT_GRADE = 2  # of 3, from which a passage answers the question
GRADE = Prompt(
    "umbrela.grade",
    "You are a relevance assessor: grade how well PASSAGE answers QUERY. First name the intent: what the searcher most "
    "likely wants to know. Rate from 0 to 3 how well the content matches that intent (match) and how trustworthy it is "
    "(trust). Weigh both by how much each matters here and decide on the grade: 0 has nothing to do with QUERY; 1 is "
    "related to it but does not answer it; 2 answers it in part, unclearly, or hidden among other things; 3 is "
    "dedicated to it and holds the exact answer. Important: 1 if PASSAGE is only somewhat about the subject of QUERY; "
    "2 if it presents something very important to the whole subject and other things besides; 3 if it is only and "
    "entirely about it; 0 if none of these is so.",
    worked_pairs.GRADE,
)

STRUCTURED = Prompt(
    "umbrela.grade_structured",
    "You are a relevance assessor: grade how well PASSAGE answers QUERY. Work through these steps in order.\n\n"
    "Step 1 - intent: say in a few words what the searcher most likely wants to know.\n"
    "Step 2 - match (M): rate from 0 to 3 how well the content of PASSAGE matches that intent.\n"
    "Step 3 - trust (T): rate from 0 to 3 how trustworthy PASSAGE is.\n"
    "Step 4 - grade (O): weigh M and T by how much each matters here, then choose exactly one overall grade:\n"
    "  0 = PASSAGE has nothing to do with QUERY.\n"
    "  1 = PASSAGE is related to QUERY but does not answer it.\n"
    "  2 = PASSAGE answers QUERY in part, unclearly, or hidden among other things.\n"
    "  3 = PASSAGE is dedicated to QUERY and holds the exact answer.\n"
    "Important: 1 if PASSAGE is only somewhat about the subject of QUERY; 2 if it presents something very important to "
    "the whole subject and other things besides; 3 if it is only and entirely about it; 0 if none of these is so.\n\n"
    "Output: one object with four keys in this order: intent (text), match, trust and grade, each of the last three a "
    "single whole number 0, 1, 2 or 3. No code and no other text.",
    worked_pairs.GRADE,
)
Wording = Literal["auto", "standard", "structured"]
WANTS_STEPS = re.compile(r"gpt[-_]?oss|qwen|qwq", re.IGNORECASE)  # models that follow explicit steps better


def wording(judge: Judge, wanted: Wording) -> Prompt:
    """Return the prompt that asks for UMBRELA's grade.

    "auto" is the structured one for models that WANTS_STEPS names, unless the user has edited the standard one.
    """
    stepwise = WANTS_STEPS.search(judge.name) is not None and GRADE.id not in judge.edited
    return STRUCTURED if wanted == "structured" or (wanted == "auto" and stepwise) else GRADE


def expected_grade(reply: Reply, field: str, worth: Mapping[str, float]) -> tuple[float, dict[str, Any]]:
    """Return the expected grade of a reply, Σ P(label) · worth(label), and the probabilities for the evidence.

    Where the judge does not tell them: the worth of the label that it chose, and nothing. `worth` has the grade of each
    label of the field. Source: the weighting of G-Eval (Liu et al. 2023, section 2).
    """
    shares = reply.shares.get(field)
    if not shares:
        return worth[label_text(getattr(reply, field))], {}
    likely = {label: share for label, share in shares.items() if share >= SHOWN_SHARE}
    grade = fsum(share * worth[label] for label, share in shares.items())
    return grade, {"probabilities": dict(sorted(likely.items(), key=lambda pair: -pair[1]))}


# the best first: an estimate takes the first, and must not make all passages irrelevant
Rating = Literal[3, 2, 1, 0]


class Grade(Reply):
    """UMBRELA's judgement of one passage: the intent, how well it is met (M), trust (T), and the grade (O)."""

    intent: str = ""
    match: Rating
    trust: Rating
    grade: Rating


async def grades(
    judge: Judge, prompt: Prompt, question: str, passages: Sequence[str]
) -> tuple[Grade | JudgeError, ...]:
    """Return UMBRELA's grade of each passage, by one call of `prompt` each; a blank passage gets 0 without a call.

    A passage that is too long for a question is graded part by part, and the best grade counts. A failed passage has
    its JudgeError in place of a grade and does not affect the others. Raises BudgetSpent and JudgeDown, which concern
    the whole run.
    """
    graded = await asyncio.gather(*(_grade(judge, prompt, question, passage) for passage in passages))
    for entry in graded:  # only now, when no question is open
        if isinstance(entry, BudgetSpent | JudgeDown):
            raise entry
    return tuple(graded)


async def _grade(judge: Judge, prompt: Prompt, question: str, passage: str) -> Grade | JudgeError:
    if not passage.strip():
        return Grade(match=0, trust=0, grade=0)
    parts = pieces(passage, left_by({"QUERY": question}, judge.room))
    if len(parts) > 1:
        judge.note("context_passages", len(parts))
    try:
        graded = await together(judge.ask(prompt, Grade, {"QUERY": question, "PASSAGE": part}) for part in parts)
        return max(graded, key=lambda entry: entry.grade)
    except JudgeError as failure:
        return failure


def grade_verdicts(graded: Sequence[Grade | JudgeError], relevant_grade: int = RELEVANT_GRADE) -> tuple[Verdict, ...]:
    """Return a verdict for each passage, in order: it holds from `relevant_grade` on; unknown without a grade."""
    return tuple(
        Verdict(f"Context {number}", "unknown", "unreadable", str(entry), (("contexts", number),))
        if isinstance(entry, JudgeError)
        else Verdict(
            f"Context {number}",
            yes_or_no(entry.grade >= relevant_grade),
            f"grade {entry.grade}",
            rests_on=(("contexts", number),),
            facts={"intent": entry.intent, "match": entry.match, "trust": entry.trust},
        )
        for number, entry in enumerate(graded, 1)
    )


def failures(graded: Sequence[Grade | JudgeError]) -> tuple[Status, str]:
    """Return the status for passages that could not be graded, with a message; OK and "" where all were graded."""
    failed = [(number, entry) for number, entry in enumerate(graded, 1) if isinstance(entry, JudgeError)]
    if not failed:
        return Status.OK, ""
    unread = all(isinstance(entry, Unreadable) for _, entry in failed)
    numbers = ", ".join(str(number) for number, _ in failed)
    reason = f"passage{'s' * (len(failed) > 1)} {numbers} could not be graded ({failed[0][1]})"
    return Status.PARSE_FAILURE if unread else Status.ERROR, reason
