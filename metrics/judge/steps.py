"""The judge's steps that several evaluators share: asked once per distinct input, then answered from the cache."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

from pydantic import ConfigDict

from metrics.core.evidence import Verdict, yes_or_no
from metrics.core.prompt import Data, Prompt
from metrics.judge.asking import I, ItemReply, Judge, Reply

BATCH = 40  # items a call: the reply to more may be cut by the token limit
NO_CLAIMS = "the answer makes no claim"
NO_REFERENCE_CLAIMS = "no expected answer makes a claim"
CLAIMS = Prompt(
    "claims",
    "List the factual claims that TEXT makes, true or false, in its order. Each claim is one self-contained sentence "
    "with a single fact: split what could be true apart ('Bo was born in Oslo in 1990' claims a place and a year: two "
    "sentences), resolve pronouns, keep numbers, names, conditions and negations as they are, add nothing that TEXT "
    "does not say, leave nothing out. QUESTION, where given, only tells what TEXT refers to, and completes a bare "
    "answer (a name, a number, yes or no) into a sentence. Greetings, questions, refusals and remarks about the answer "
    "itself are no claims. No claims: an empty list.",
)
ENTAILMENT = Prompt(
    "entailment",
    "For each of the CLAIMS say which of the numbered CONTEXTS support it: those from which it follows, by what they "
    "say or plainly imply; all of them, if it follows only from several taken together. A context that is only about "
    "the same subject does not support it, nor does your own knowledge. A claim with a wrong number, name, date or "
    "negation is not supported. supported_by lists the numbers of the contexts, empty if none does.",
)

YesNo = Literal["yes", "no"]
A = TypeVar("A")


class _Claims(Reply):
    claims: list[str]


class Entailment(ItemReply):
    """Which contexts, by number from 1, support one claim."""

    reason: str = ""
    supported_by: list[int]


class YesNoReply(ItemReply):
    """A yes or no on one item."""

    # the schema names it so, and cached replies are kept under a hash of the schema
    __qualname__ = "Verdict"
    model_config = ConfigDict(title="Verdict")

    reason: str = ""
    verdict: YesNo


class Reference(NamedTuple):
    """An expected answer with claims: its number among the case's, from 1, and the claims."""

    number: int
    claims: tuple[str, ...]


async def together(asked: Iterable[Awaitable[A]]) -> list[A]:
    """Return the results of all, awaited at once. A failure is raised only when the others have ended."""
    found: list[A] = []
    for entry in await asyncio.gather(*asked, return_exceptions=True):
        if isinstance(entry, BaseException):
            raise entry
        found.append(entry)
    return found


async def claims(judge: Judge, text: str | None, question: str | None = None) -> tuple[str, ...]:
    """Return the self-contained factual claims of a text (an answer or a reference), in its order; none if blank.

    Evaluators that can share the reply pass the case's question, so that all ask the same.
    """
    if not text or not text.strip():
        return ()
    reply = await judge.ask(CLAIMS, _Claims, {"QUESTION": question or None, "TEXT": text})
    return tuple(claim.strip() for claim in reply.claims if claim.strip())


async def references(judge: Judge, expected: Sequence[str], question: str | None = None) -> tuple[Reference, ...]:
    """Return the claims of every expected answer that makes any."""
    _, found = await answer_and_references(judge, None, expected, question)
    return found


async def answer_and_references(
    judge: Judge, answer: str | None, expected: Sequence[str], question: str | None = None
) -> tuple[tuple[str, ...], tuple[Reference, ...]]:
    """Return the claims of the answer, and those of every expected answer that makes any."""
    stated, *others = await together(claims(judge, text, question) for text in (answer, *expected))
    return stated, tuple(Reference(number, found) for number, found in enumerate(others, 1) if found)


async def entailment(judge: Judge, stated: Sequence[str], contexts: Sequence[str]) -> tuple[Entailment, ...]:
    """Return for each claim the contexts that support it; unknown context numbers are dropped.

    Where all contexts are blank no question is asked. Contexts can also be the claims of a reference, which are
    self-contained where its text is not ("In Paris.").
    """
    if not any(context.strip() for context in contexts):
        return tuple(
            Entailment(id=number, reason="nothing to support it", supported_by=[])
            for number in range(1, len(stated) + 1)
        )
    replies = await each(judge, ENTAILMENT, Entailment, stated, {"CONTEXTS": contexts}, name="CLAIMS")
    return tuple(
        entry.model_copy(update={"supported_by": sorted({n for n in entry.supported_by if 1 <= n <= len(contexts)})})
        for entry in replies
    )


def entailed_verdicts(
    stated: Sequence[str], entailed: Sequence[Entailment], by: str = "contexts"
) -> tuple[Verdict, ...]:
    """Return a verdict for each claim: supported or not, and what supports it, numbered in the group `by`."""
    return tuple(
        Verdict(
            claim,
            yes_or_no(bool(entry.supported_by)),
            "supported" if entry.supported_by else "unsupported",
            entry.reason,
            tuple((by, number) for number in entry.supported_by),
        )
        for claim, entry in zip(stated, entailed, strict=True)
    )


async def each(
    judge: Judge,
    prompt: Prompt,
    reply: type[I],
    items: Sequence[str],
    data: Data | None = None,
    *,
    name: str,
    batch: int = BATCH,
) -> tuple[I, ...]:
    """Return judge.each over batches of `batch` items, all asked at once; ids are numbered over all batches."""
    starts = range(0, len(items), batch)
    batches = await together(
        judge.each(prompt, reply, items[start : start + batch], data, name=name) for start in starts
    )
    return tuple(
        entry.model_copy(update={"id": number})
        for number, entry in enumerate((entry for replies in batches for entry in replies), 1)
    )


async def each_context(judge: Judge, prompt: Prompt, contexts: Sequence[str], data: Data, *, blank: I) -> tuple[I, ...]:
    """Return one reply per context, in their order; `blank` for a blank one, about which no question is asked."""
    worded = [context for context in contexts if context.strip()]
    replies = iter(await each(judge, prompt, type(blank), worded, data, name="CONTEXTS"))
    return tuple(next(replies) if context.strip() else blank for context in contexts)
