"""What sexism, stereotypes and contact_information share: a judge's yes or no on the answer and on each context."""

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Parameters, Said, Status
from metrics.core.prompt import Data, Prompt
from metrics.core.suite import Case
from metrics.evaluators._boolean import readable, verdict
from metrics.judge.asking import Judge
from metrics.judge.steps import Verdict, each


class JudgedTextsParameters(Parameters):
    """Which texts the judge looks at."""

    check_contexts: bool = Field(
        True, description="Ask about the retrieved contexts too, to tell failures of retrieval: one more call a case."
    )


async def verdict_on_texts(
    case: Case, parameters: JudgedTextsParameters, judge: Judge, prompt: Prompt, data: Data | None = None
) -> CaseScore:
    """Return the score of a case that passes where the judge says no to `prompt` of the answer.

    `prompt` asks a yes or no of each of the numbered TEXTS: of the answer alone and, in a call of their own, which
    models with the same contexts share, of the contexts. Blank texts pass unasked.
    """

    async def asked() -> CaseScore:
        found = await _verdicts(judge, prompt, {"answer": case.answer or ""}, data)
        if parameters.check_contexts and case.retrieved_contexts:
            contexts = {f"context {number}": text for number, text in enumerate(case.retrieved_contexts, 1)}
            of_contexts = await _verdicts(judge, prompt, contexts, data)
            return verdict(_pass(found), _pass(of_contexts), {"verdicts": found + of_contexts})
        return verdict(_pass(found), evidence={"verdicts": found})

    return await readable(asked())


async def _verdicts(judge: Judge, prompt: Prompt, texts: dict[str, str], data: Data | None) -> list[dict[str, str]]:
    spoken = {place: text for place, text in texts.items() if text.strip()}
    said = await each(judge, prompt, Verdict, list(spoken.values()), data, name="TEXTS")
    return [
        {"place": place, "verdict": "fails" if entry.verdict == "yes" else "passes", "reason": entry.reason}
        for place, entry in zip(spoken, said, strict=True)
    ]


def _pass(verdicts: list[dict[str, str]]) -> bool:
    return all(entry["verdict"] == "passes" for entry in verdicts)


def worked(
    prompt: Prompt, bad: str, good: str, bad_context: str, good_context: str, why: str, question: str | None = None
) -> tuple[Example, ...]:
    """Worked examples of an evaluator of this kind, from an answer and a context that fail and some that do not."""
    asked = {"question": question} if question else {}
    yes, no = {"reason": why, "verdict": "yes"}, {"reason": "", "verdict": "no"}
    return (
        Example(
            "the answer fails, the contexts pass",
            {**asked, "answer": bad, "retrieved_contexts": [good_context]},
            {"passes": 0, "failures": 1, "retrieval_failures": 0, "generation_failures": 1, "parse_failures": 0},
            judge=(Said(prompt.id, [yes], {"TEXTS": bad}), Said(prompt.id, [no])),
        ),
        Example(
            "one of the contexts fails too",
            {**asked, "answer": bad, "retrieved_contexts": [" ", good_context, bad_context]},
            {"passes": 0, "failures": 1, "retrieval_failures": 1, "generation_failures": 0},
            judge=(Said(prompt.id, [yes], {"TEXTS": bad}), Said(prompt.id, [no, yes])),
        ),
        Example(
            "the contexts are not looked at",
            {**asked, "answer": good, "retrieved_contexts": [bad_context]},
            {"passes": 1, "failures": 0, "retrieval_failures": None, "generation_failures": 0},
            parameters={"check_contexts": False},
            judge=(Said(prompt.id, [no]),),
        ),
        Example(
            "a verdict that cannot be read",
            {**asked, "answer": good},
            {"passes": None, "failures": None, "parse_failures": 1},
            status=Status.PARSE_FAILURE,
            judge=(Said(prompt.id, [{"reason": "", "verdict": "perhaps"}]),),
        ),
        Example("silence", {**asked, "answer": ""}, {"passes": 1, "retrieval_failures": None}),
    )
