"""Grades that a judge gives: whole numbers, and UMBRELA's grade of a passage, which several evaluators share."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from metrics.core.errors import BudgetSpent, JudgeDown, JudgeError, Unreadable
from metrics.core.evaluator import Status
from metrics.core.evidence import Verdict, yes_or_no
from metrics.core.prompt import Prompt
from metrics.judge.asking import Judge, Reply

RELEVANT_GRADE = 2  # of 3, from which a passage answers the question
GRADE = Prompt(
    "umbrela.grade",
    "Grade how well PASSAGE answers QUERY. First name the intent: what the searcher most likely wants to know. Rate "
    "from 0 to 3 how well the content matches that intent (match) and how trustworthy it is (trust). Weigh both and "
    "decide on the grade: 0 has nothing to do with QUERY; 1 is related to it but does not answer it; 2 answers it in "
    "part, unclearly, or hidden among other things; 3 is dedicated to it and holds the exact answer.",
)


def whole(value: Any) -> Any:
    """`value` as an integer where it is one in other clothes ("2", 2.0), else as it is; true is no 1."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


# the best first: a dry run goes by the first, and must not take all passages for irrelevant
Rating = Annotated[Literal[3, 2, 1, 0], BeforeValidator(whole)]


class Grade(Reply):
    """UMBRELA's judgement of one passage: the intent, how well it is met (M), trust (T), and the grade (O)."""

    intent: str = ""
    match: Rating
    trust: Rating
    grade: Rating


async def grades(judge: Judge, question: str, passages: Sequence[str]) -> tuple[Grade | JudgeError, ...]:
    """UMBRELA's grade of each passage, one call a passage; a blank one has grade 0 unasked.

    A passage to which the judge gave no reply that could be read has the failure in its place: it must not take the
    others with it. What concerns the whole run (BudgetSpent, JudgeDown) is raised.
    """
    said = await asyncio.gather(*(_grade(judge, question, passage) for passage in passages))
    for entry in said:  # only now: no question stays open behind it
        if isinstance(entry, BudgetSpent | JudgeDown):
            raise entry
    return tuple(said)


async def _grade(judge: Judge, question: str, passage: str) -> Grade | JudgeError:
    if not passage.strip():
        return Grade(match=0, trust=0, grade=0)
    try:
        return await judge.ask(GRADE, Grade, {"QUERY": question, "PASSAGE": passage})
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
    """Return what became of the passages that could not be graded, and which and why, in words; OK and "" where all
    could.
    """
    failed = [(number, entry) for number, entry in enumerate(graded, 1) if isinstance(entry, JudgeError)]
    if not failed:
        return Status.OK, ""
    unread = all(isinstance(entry, Unreadable) for _, entry in failed)
    numbers = ", ".join(str(number) for number, _ in failed)
    reason = f"passage{'s' * (len(failed) > 1)} {numbers} could not be graded ({failed[0][1]})"
    return Status.PARSE_FAILURE if unread else Status.ERROR, reason
