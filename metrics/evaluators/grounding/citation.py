"""Citation: whether the passages that the answer cites support what they are cited for."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Self

from pydantic import Field, model_validator

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Holds, Verdict
from metrics.core.prompt import Pair, Prompt
from metrics.core.rounding import exact_sum
from metrics.core.suite import Case
from metrics.judge.asking import Judge, Reply
from metrics.judge.budget import about_tokens
from metrics.judge.long_texts import PART, batches, left_by, pieces
from metrics.judge.steps import together, with_quote
from metrics.text.citations import CitedPart, cited_parts, passage_names

SUPPORT = Prompt(
    "citation.support",
    "Does PASSAGE support STATEMENT, which cites it? Read closely: a fluent, well-formed statement may hold slight "
    "inaccuracies. Check every piece of information in STATEMENT; ANSWER only tells what it refers to. full: PASSAGE "
    "supports all of it, so that one may say it after 'according to PASSAGE'. partial: it supports some of it, the "
    "rest is missing or different. none: it supports no part of it. Go by PASSAGE, not by your own knowledge; in "
    "doubt, use your best judgement. quote: the few words of PASSAGE that support STATEMENT most directly, copied "
    "letter by letter; empty if none do.",
    (
        Pair(
            {"STATEMENT": "The Ardle tram opened in 1911 with eight cars.", "PASSAGE": "Ardle's tram opened in 1911."},
            {
                "reason": "The year is there, the cars are not.",
                "quote": "Ardle's tram opened in 1911",
                "support": "partial",
            },
        ),
        Pair(
            {
                "STATEMENT": "Skerra has no harbour.",
                "PASSAGE": "Ships anchor off Skerra, since the island never had a harbour.",
            },
            {"reason": "It says so.", "quote": "the island never had a harbour", "support": "full"},
        ),
    ),
    {"citation": "PASSAGE"},
)
HOLDS: dict[str, Holds] = {"full": "yes", "partial": "unknown", "none": "no"}
POSITION_DIGITS = 6  # of the number of a passage, as in markers; a longer one is shown as it was written


class CitationParameters(Parameters):
    """What support is worth, none at least and full at most."""

    full_credit: float = Field(1.0, ge=0, le=1, description="Worth of a citation that supports all of the part.")
    partial_credit: float = Field(0.5, ge=0, le=1, description="Worth of a citation that supports some of the part.")
    no_credit: float = Field(0.0, ge=0, le=1, description="Worth of a cited passage that supports nothing of the part.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.no_credit <= self.partial_credit <= self.full_credit:
            raise ValueError("no_credit ≤ partial_credit ≤ full_credit")
        return self


class _Support(Reply):
    reason: str = ""
    quote: str = ""
    support: Literal["full", "partial", "none"]


class _Judged(NamedTuple):
    part: int
    passage: str
    credit: float
    verdict: Verdict


MUIR = "John Muir was born in 1838 and founded the Sierra Club."
CLUB = "The Sierra Club was founded in 1892."
ANSWER = "John Muir founded the Sierra Club in 1892 [1, 2]. He was born in 1838 [1]. He loved mountains."


@evaluator(
    inputs=("answer", "retrieved_contexts"),
    default_needs=("cited_passages",),
    prompts=(SUPPORT,),
    version=5,
    metrics=(
        Metric("citation_f1", "Harmonic mean of citation precision and recall.", primary=True),
        Metric("citation_precision", "Mean support that the cited passages give to the parts that cite them."),
        Metric(
            "citation_recall", "Mean support that the answer's parts get from what they cite; 0 for an uncited part."
        ),
    ),
    sources=("Open RAG Eval", "TREC 2024 RAG Track: support evaluation"),
    standards=("accountable and transparent", "valid and reliable", "LLM09 misinformation"),
    examples=(
        Example(
            "three parts: fully and partly supported, fully supported, uncited",
            {"answer": ANSWER, "retrieved_contexts": [MUIR, CLUB]},
            {"citation_precision": 0.75, "citation_recall": 7 / 12, "citation_f1": 0.65625},
            judge=(
                ScriptedReply(
                    "citation.support", {"reason": "The year only.", "support": "partial"}, {"PASSAGE": CLUB}
                ),
                ScriptedReply("citation.support", {"reason": "It says so.", "support": "full"}, {"PASSAGE": MUIR}),
            ),
        ),
        Example(
            "a cited passage does not exist",
            {"answer": "He was born in 1838 [1]. He died in 1914 [7].", "retrieved_contexts": [MUIR]},
            {"citation_precision": 0.5, "citation_recall": 0.5, "citation_f1": 0.5},
            judge=(ScriptedReply("citation.support", {"support": "full"}),),
        ),
        Example(
            "nothing is cited",
            {"answer": "He was born in 1838.", "retrieved_contexts": [MUIR]},
            {"citation_precision": None, "citation_recall": 0.0, "citation_f1": 0.0},
        ),
        Example(
            "no markers, but the output lists its citations",
            {"answer": "He was born in 1838.", "citations": ["[2]"], "retrieved_contexts": [CLUB, MUIR]},
            {"citation_precision": 1.0, "citation_recall": 1.0, "citation_f1": 1.0},
            judge=(ScriptedReply("citation.support", {"support": "full"}, {"PASSAGE": MUIR}),),
        ),
        Example(
            "a passage is cited by its id",
            {"answer": "Seven [2]", "retrieved_contexts": [CLUB, MUIR], "context_ids": ["[2]", "[3]"]},
            {"citation_precision": 1.0, "citation_recall": 1.0, "citation_f1": 1.0},
            judge=(ScriptedReply("citation.support", {"support": "full"}, {"PASSAGE": CLUB}),),
        ),
        Example(
            "a credit of .8 for partial support",
            {"answer": "John Muir founded the Sierra Club in 1892 [1].", "retrieved_contexts": [MUIR]},
            {"citation_precision": 0.8, "citation_recall": 0.8, "citation_f1": 0.8},
            parameters={"partial_credit": 0.8},
            judge=(ScriptedReply("citation.support", {"support": "partial"}),),
        ),
        Example("an empty answer", {"answer": " ", "retrieved_contexts": [MUIR]}, {"citation_f1": 0.0}),
    ),
    differs_from="faithfulness asks whether any retrieved context supports a claim; this one checks each part of the "
    "answer against exactly the passages that it cites.",
    differs_from_source="The prompt is worded by Assay. A citation of a passage that does not exist scores 0: dropping "
    "it would reward made-up citations. TREC 2024 RAG uses only the first citation of a part; here all count. Where "
    "the passages have no ids, [n] is the nth of them. An answer without a citation has recall and F1 0 and no "
    "precision. Thresholds are Assay's.",
)
async def citation(case: Case, parameters: CitationParameters, judge: Judge) -> CaseScore:
    """Whether the passages that the answer cites support what they are cited for, in full, in part or not at all.

        support of a part by a passage it cites = 1 full, .5 partial, 0 none (`full_credit`, `partial_credit`, …)
        citation_precision = mean over the cited passages of their mean support of the parts that cite them
        citation_recall = mean over the parts of their mean support by the passages they cite; 0 where they cite none
        citation_f1 = 2 · precision · recall / (precision + recall)

    A part is the text up to its markers: [1], [1, 2], [1-3], [1][2], [1] and [2], [Source 1], [1, p. 4], [[1]](link),
    (Source: doc.pdf) or 【4:0†a.pdf】. Markers name passages by id where the contexts have ids ([doc-3], [7]),
    else [n] is the nth retrieved context; what is neither an id, a file's name nor a number is no marker. They are read
    as standing before their text only if the answer begins with one and continues that way to its end. A list of
    sources at the end of the answer is no part; it says which passages the numbers mean where it names their ids. An
    answer without markers is one part that cites the output's `citations`, else the list of sources: ids, numbers, or
    the text of a retrieved context.

    A passage that does not exist supports nothing: a made-up citation lowers precision and recall. Without any citation
    precision has no value, and recall and F1 are 0. An answer without text has 0. One that cites by name where
    the contexts have no ids is not applicable.
    Evidence: how the markers were read and resolved (by id or position), the parts, each citation with its verdict and
    the judge's reason, and markers without text.
    TREC 2024 RAG uses only the first citation of a part and ignores citations of passages that do not exist.
    """
    parts, reading, stray, listed = cited_parts(case.answer or "", case.context_ids)
    if not parts:
        return output_failure("the answer has no text")
    by_id = any(case.context_ids)
    names = passage_names(len(case.retrieved_contexts), case.context_ids)
    cited = list(parts)
    how = f"{reading} markers" if reading != "none" else "no markers"
    if reading == "none" and (case.citations or listed):
        how = "citations of the output" if case.citations else "list of sources"
        cited = [CitedPart(parts[0].text, _named_passages(case, names) if case.citations else listed)]
    unknown = [name for part in cited for name in part.citations if not name.isdecimal()]
    if unknown and not by_id and how != "citations of the output":
        return not_applicable(f"the answer cites {unknown[0]!r} by name, and its retrieved contexts have no ids")
    asked = [(place, name) for place, part in enumerate(cited) for name in part.citations]
    judged = await together(_judge_support(judge, case, cited, place, name, names, parameters) for place, name in asked)
    recall = exact_sum(_mean([entry.credit for entry in judged if entry.part == place]) for place in range(len(cited)))
    recall /= len(cited)
    passages = dict.fromkeys(name for _, name in asked)
    precision = _mean([_mean([entry.credit for entry in judged if entry.passage == name]) for name in passages])
    values = {
        "citation_precision": precision if passages else None,
        "citation_recall": recall,
        "citation_f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
    }
    facts = {
        "reading": how,
        "citations_resolved_by": "id" if by_id else "position",
        "parts": [{"text": part.text, "contexts": _written_names(part.citations, by_id)} for part in cited],
        "stray": _written_names(stray, by_id),
    }
    evidence = Evidence({"citations": [entry.verdict for entry in judged]}, facts)
    return CaseScore(values, reason=None if passages else "the answer cites nothing", evidence=evidence)


async def _judge_support(
    judge: Judge, case: Case, parts: list[CitedPart], place: int, name: str, names: Sequence[str],
    parameters: CitationParameters,
) -> _Judged:  # fmt: skip
    """Return how well the passage of that name supports the part in that place."""
    text, by_id = parts[place].text, any(case.context_ids)
    shown = {"cites": name} if by_id else {}
    if name not in names:
        there = f"no passage has the id {name}" if by_id else f"there are {len(names)} passages"
        return _Judged(place, name, 0.0, Verdict(text, "no", "none", there, facts=shown or {"cites": name}))
    number = names.index(name) + 1
    passage = case.retrieved_contexts[number - 1]
    data = {"ANSWER": _around(parts, place), "STATEMENT": text}
    passages = pieces(passage, left_by(data, judge.room))
    if len(passages) > 1:
        judge.note("context_passages", len(passages))
    replies = await together(judge.ask(SUPPORT, _Support, {**data, "PASSAGE": one}) for one in passages)
    reply = min(replies, key=lambda entry: list(HOLDS).index(entry.support))
    credit = {"full": parameters.full_credit, "partial": parameters.partial_credit, "none": parameters.no_credit}
    verdict = Verdict(text, HOLDS[reply.support], reply.support, reply.reason, (("contexts", number),), facts=shown)
    verdict = with_quote(verdict, reply.quote, [passage] if reply.support != "none" else [])
    return _Judged(place, name, credit[reply.support], verdict)


def _around(parts: Sequence[CitedPart], place: int) -> str | None:
    """Return the answer as far as it is needed to understand one of its parts; None for an answer of one part.

    Of an answer of more than PART tokens it is the parts before this one, the nearest that fit, and itself.
    """
    if len(parts) == 1:
        return None
    texts = [part.text for part in parts]
    if about_tokens("\n".join(texts)) <= PART:
        return "\n".join(texts)
    before = batches([texts[place], *reversed(texts[:place])], PART)[0]
    return "\n".join(texts[place - step] for step in reversed(before))


def _named_passages(case: Case, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the passages that the output's citations mean; one that means none stands for itself."""
    found: list[str] = []
    for entry in case.citations:
        if entry in case.retrieved_contexts:
            found.append(names[case.retrieved_contexts.index(entry)] or entry)
        else:
            found += cited_parts(f"[{entry.strip().strip('[]')}]", case.context_ids).stray or (entry,)
    return tuple(dict.fromkeys(found))


def _written_names(names: Sequence[str], by_id: bool) -> list[str | int]:
    """Return the names as the evidence holds them: positions as numbers."""
    return [int(name) if name.isdecimal() and len(name) <= POSITION_DIGITS and not by_id else name for name in names]


def _mean(values: list[float]) -> float:
    return exact_sum(values) / len(values) if values else 0.0
