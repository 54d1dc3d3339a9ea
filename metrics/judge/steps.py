"""The judge's steps that several evaluators share: asked once per distinct input, then answered from the cache."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal, NamedTuple, TypeVar

from pydantic import ConfigDict

from metrics.core.errors import Cut
from metrics.core.evidence import QUOTE_FOUND, QUOTE_GAP, Verdict, yes_or_no
from metrics.core.prompt import Data, Prompt
from metrics.judge import worked_pairs
from metrics.judge.asking import I, ItemReply, Judge, Reply
from metrics.judge.budget import about_tokens
from metrics.judge.long_texts import LEAST_PART, NUMBER, PART, batches, distinct, lead, left_by, listed_size, pieces
from metrics.text.citations import without_sources
from metrics.text.shared_words import by_likeness, quoted_in

BATCH = 40  # items a call: the reply to more may be cut by the token limit
QUOTED_BATCH = 25  # … where each reply quotes a context
NO_CLAIMS = "the answer makes no claim"
NO_REFERENCE_CLAIMS = "no expected answer makes a claim"
CLAIMS = Prompt(
    "claims",
    "List the factual claims that TEXT makes, true or false, in its order. Each claim is one self-contained sentence "
    "with a single fact: split what could be true apart ('Bo was born in Oslo in 1990' claims a place and a year: two "
    "sentences), resolve pronouns, keep numbers, names, conditions, doubts and negations as they are, take TEXT at "
    "its word, add nothing that it does not say, leave nothing out. QUESTION, where given, only tells what TEXT refers "
    "to, and completes a bare answer (a name, a number, yes or no) into a sentence. BEFORE, where given, is what "
    "stands before TEXT: it too only tells what TEXT refers to, list nothing of it. Greetings, questions, refusals "
    "and remarks about the answer itself are no claims. No claims: an empty list.",
    worked_pairs.CLAIMS,
    {"answer": "TEXT"},
)
ENTAILMENT = Prompt(
    "entailment",
    "For each of the CLAIMS say which of the numbered CONTEXTS support it: those from which it follows, by what they "
    "say or plainly imply; all of them, if it follows only from several taken together. A context that is only about "
    "the same subject does not support it, nor does your own knowledge. A claim that the contexts contradict (another "
    "number, name, date, a negation) or do not mention is not supported; words of caution in it (may, possibly) are "
    "no contradiction by themselves. supported_by lists the numbers of the contexts, empty if none does. quote: the "
    "few words of such a context that support the claim most directly, copied letter by letter, … where some in "
    "between are left out; empty if none does.",
    worked_pairs.ENTAILMENT,
    {"context": "CONTEXTS", "context_list": "CONTEXTS", "statements": "CLAIMS"},
)

YesNo = Literal["yes", "no"]
A = TypeVar("A")
MOST_QUOTED = 1_000  # characters of a quote that is not there


class _Claims(Reply):
    claims: list[str]


class Entailment(ItemReply):
    """Which contexts, by number from 1, support one claim, and the words that do."""

    reason: str = ""
    quote: str = ""
    supported_by: list[int]


class YesNoReply(ItemReply):
    """A yes or no on one item."""

    # the schema names it so, and cached replies are kept under a hash of the schema
    __qualname__ = "Verdict"
    model_config = ConfigDict(title="Verdict")

    reason: str = ""
    verdict: YesNo


def says_yes(reply: YesNoReply) -> bool:
    """Return whether the verdict is yes."""
    return reply.verdict == "yes"


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

    The list of sources at its end is no claim.

    Evaluators that can share the reply pass the case's question, so that all ask the same. See `listed`.
    """
    return await listed(judge, CLAIMS, _Claims, without_sources(text or ""), {"QUESTION": question or None})


async def listed(
    judge: Judge, prompt: Prompt, form: type[Reply], text: str | None, data: Data | None = None
) -> tuple[str, ...]:
    """Return what `prompt` lists of a text, in its order, each item once; nothing for a blank text.

    `form` has one field, a list of texts. A text of more than PART tokens is listed part by part, each with a few
    sentences of what stands before it; a part is halved where the reply about it was cut.
    """
    if not text or not text.strip():
        return ()
    parts = pieces(text, PART)
    if len(parts) > 1:
        judge.note("text_parts", len(parts))
    found = await together(_listed(judge, prompt, form, part, parts[:at], data or {}) for at, part in enumerate(parts))
    items = [item.strip() for part in found for item in part if item.strip()]
    different = distinct(items)
    if len(different) < len(items):
        judge.note("duplicates", len(items) - len(different))
    return different


async def _listed(
    judge: Judge, prompt: Prompt, form: type[Reply], part: str, before: Sequence[str], data: Data
) -> Sequence[str]:
    """Return the items of one part; `before` are the parts before it."""
    # a wording of the user's own does not know of BEFORE
    shown = None if prompt.id in judge.edited else lead(before)
    try:
        reply = await judge.ask(prompt, form, {**data, "BEFORE": shown, "TEXT": part})
    except Cut:
        size = about_tokens(part)
        halves = pieces(part, size // 2 + 1)
        if size < LEAST_PART or len(halves) < 2:
            raise
        judge.note("text_parts", len(halves))
        found = await together(
            _listed(judge, prompt, form, half, [*before, *halves[:place]], data) for place, half in enumerate(halves)
        )
        return [item for half in found for item in half]
    (items,) = reply.model_dump().values()
    return list(items)


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
    self-contained where its text is not ("In Paris."). Contexts that are too long for one question are asked about in
    batches, those first that share the most words with the claims; what any batch supports is supported.
    """
    if not any(context.strip() for context in contexts):
        return tuple(
            Entailment(id=place, reason="nothing to support it", supported_by=[]) for place in range(1, len(stated) + 1)
        )
    groups = batches(stated, judge.room // 4, QUOTED_BATCH)
    found = await together(_entailed(judge, [stated[place] for place in group], contexts) for group in groups)
    return tuple(entry.model_copy(update={"id": number}) for number, entry in enumerate(chain.from_iterable(found), 1))


async def _entailed(judge: Judge, stated: Sequence[str], contexts: Sequence[str]) -> list[Entailment]:
    """Return the entailment of claims that fit into one question."""
    left = left_by({"CLAIMS": stated}, judge.room)
    if listed_size(contexts) <= left:
        shown = [list(enumerate(contexts, 1))]
    else:
        passages = [
            (number, piece)
            for number, context in enumerate(contexts, 1)
            if context.strip()
            for piece in ([context] if listed_size([context]) <= left // 2 else pieces(context, left // 4))
        ]
        order = by_likeness([piece for _, piece in passages], stated)
        ranked = [passages[place] for place in order]
        # within a batch in their own order, in which neighbours read on
        shown = [
            [passages[place] for place in sorted(order[entry] for entry in batch)]
            for batch in batches([piece for _, piece in ranked], left)
        ]
        judge.note("context_batches", len(shown))
    asked = await together(
        judge.each(ENTAILMENT, Entailment, stated, {"CONTEXTS": [text for _, text in batch]}, name="CLAIMS")
        for batch in shown
    )
    numbered = [[_numbered(entry, batch) for entry in entries] for entries, batch in zip(asked, shown, strict=True)]
    return [_united(entries, contexts) for entries in zip(*numbered, strict=True)]


def _numbered(entry: Entailment, shown: Sequence[tuple[int, str]]) -> Entailment:
    """Return the entry with the numbers of the contexts that the texts shown are of.

    If only texts that do not exist support it, its probabilities, which include them, are dropped.
    """
    numbers = sorted({shown[place - 1][0] for place in entry.supported_by if 1 <= place <= len(shown)})
    if bool(numbers) != bool(entry.supported_by):
        return Entailment(id=entry.id, reason=entry.reason, supported_by=numbers, quote=entry.quote)
    return entry.model_copy(update={"supported_by": numbers})


def _united(entries: Sequence[Entailment], contexts: Sequence[str]) -> Entailment:
    """Return one entry for a claim that was asked about in batches: what supports it in any of them.

    Reason, quote and probability are those of the likeliest batch that supports it with a quote that is there, else of
    the likeliest that supports it, else of the likeliest of all.
    """
    supporting = [entry for entry in entries if entry.supported_by]
    numbers = sorted({number for entry in supporting for number in entry.supported_by})
    sure = [entry for entry in supporting if quoted_in(entry.quote, [contexts[one - 1] for one in entry.supported_by])]
    likeliest = max(sure or supporting or entries, key=lambda entry: entry.probability("supported_by", "yes") or 0.0)
    return likeliest.model_copy(update={"supported_by": numbers})


def entailed_verdicts(
    stated: Sequence[str], entailed: Sequence[Entailment], contexts: Sequence[str], by: str = "contexts"
) -> tuple[Verdict, ...]:
    """Return a verdict for each claim: supported or not, and what supports it, numbered in the group `by`.

    The judge's quote is searched for in the `contexts` that it names.
    """
    return tuple(
        with_quote(
            Verdict(
                claim,
                yes_or_no(bool(entry.supported_by)),
                "supported" if entry.supported_by else "unsupported",
                entry.reason,
                tuple((by, number) for number in entry.supported_by),
                probability=entry.probability("supported_by", "yes"),
            ),
            entry.quote,
            [contexts[number - 1] for number in entry.supported_by],
        )
        for claim, entry in zip(stated, entailed, strict=True)
    )


def with_quote(verdict: Verdict, quote: str, texts: Sequence[str]) -> Verdict:
    """Return the verdict with the judge's quote of the texts, and the fact `quote_found`: whether it is in them.

    A quote that is there is stored as it stands there. A judge that quotes nothing, or has nothing to quote, changes
    nothing.
    """
    if not quote.strip() or not texts:
        return verdict
    found = quoted_in(quote, texts)
    facts = {**verdict.facts, QUOTE_FOUND: bool(found)}
    return replace(verdict, quote=QUOTE_GAP.join(found) if found else quote.strip()[:MOST_QUOTED], facts=facts)


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
    """Return judge.each over batches of `batch` items, fewer where they are long, all asked at once.

    Ids are numbered over all batches.
    """
    groups = batches(items, left_by(data or {}, judge.room), batch)
    found = await together(judge.each(prompt, reply, [items[at] for at in group], data, name=name) for group in groups)
    return tuple(entry.model_copy(update={"id": number}) for number, entry in enumerate(chain.from_iterable(found), 1))


async def each_text(
    judge: Judge,
    prompt: Prompt,
    reply: type[I],
    texts: Sequence[str],
    data: Data,
    *,
    name: str,
    decides: Callable[[I], bool],
    divided: str = "",
) -> tuple[I, ...]:
    """Return one reply per text, in their order, also where texts are too long for a question.

    A text is then asked about in passages, and so is the entry of `data` named `divided`. The reply is that about the
    first passage for which `decides` is true, else about the first passage.
    """
    whole = data.get(divided)
    parts = pieces(whole, judge.room // 2) if isinstance(whole, str) else []
    if len(parts) > 1:
        judge.note("text_parts", len(parts))
        asked = await together(
            each_text(judge, prompt, reply, texts, {**data, divided: one}, name=name, decides=decides) for one in parts
        )
        return tuple(_decided(entries, decides) for entries in zip(*asked, strict=True))
    left = left_by(data, judge.room)
    passages = [(place, piece) for place, text in enumerate(texts) for piece in pieces(text, left - NUMBER)]
    if len(passages) > len(texts):
        judge.note("context_passages", len(passages))
    replies = await each(judge, prompt, reply, [piece for _, piece in passages], data, name=name)
    about: list[list[I]] = [[] for _ in texts]
    for (place, _), entry in zip(passages, replies, strict=True):
        about[place].append(entry)
    return tuple(_decided(entries, decides) for entries in about)


def _decided(entries: Sequence[I], decides: Callable[[I], bool]) -> I:
    return next((entry for entry in entries if decides(entry)), entries[0])


async def each_context(
    judge: Judge,
    prompt: Prompt,
    contexts: Sequence[str],
    data: Data,
    *,
    blank: I,
    decides: Callable[[I], bool],
    divided: str = "",
) -> tuple[I, ...]:
    """Return one reply per context, as each_text does; `blank` for a blank one, about which no question is asked."""
    worded = [context for context in contexts if context.strip()]
    found = await each_text(judge, prompt, type(blank), worded, data, name="CONTEXTS", decides=decides, divided=divided)
    replies = iter(found)
    return tuple(next(replies) if context.strip() else blank for context in contexts)


def beginning(judge: Judge, text: str, data: Data | None = None) -> str:
    """Return what of a text a question has room for beside `data`; the rest is said to be left out."""
    first = pieces(text, left_by(data or {}, judge.room))[0]
    if len(first) < len(text):
        judge.note("characters_left_out", len(text) - len(first))
    return first
