"""Citation: whether the passages that the answer cites support what they are cited for."""

import re
from typing import Literal, NamedTuple

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, evaluator, not_applicable
from metrics.core.evidence import Evidence, Holds, Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.judge.asking import Judge, Reply
from metrics.judge.steps import together
from metrics.text.citations import CitedPart, cited_parts

SUPPORT = Prompt(
    "citation.support",
    "Does PASSAGE support STATEMENT, which cites it? Check every piece of information in STATEMENT, ANSWER only tells "
    "what it refers to. full: one may say all of it 'according to PASSAGE'. partial: PASSAGE holds some of it, the "
    "rest is missing or different. none: it holds nothing of it. Your own knowledge does not count.",
)
CREDIT = {"full": 1.0, "partial": 0.5, "none": 0.0}
HOLDS: dict[str, Holds] = {"full": "yes", "partial": "unknown", "none": "no"}
BARE_NUMBER = re.compile(r"\W*(\d{1,6})\W*")


class _Support(Reply):
    reason: str = ""
    support: Literal["full", "partial", "none"]


class _Judged(NamedTuple):
    part: int
    context: int
    credit: float
    verdict: Verdict


MUIR = "John Muir was born in 1838 and founded the Sierra Club."
CLUB = "The Sierra Club was founded in 1892."
ANSWER = "John Muir founded the Sierra Club in 1892 [1, 2]. He was born in 1838 [1]. He loved mountains."


@evaluator(
    id="citation",
    title="Citation",
    inputs=("answer", "retrieved_contexts"),
    prompts=(SUPPORT,),
    metrics=(
        Metric("citation_f1", "Harmonic mean of citation precision and recall.", primary=True),
        Metric("citation_precision", "Mean support that the cited passages give to the parts that cite them."),
        Metric(
            "citation_recall", "Mean support that the answer's parts get from what they cite; 0 for an uncited part."
        ),
    ),
    sources=("Open RAG Eval", "TREC 2024 RAG Track: support evaluation"),
    standards=(
        "NIST AI RMF: accountable and transparent",
        "NIST AI RMF: valid and reliable",
        "OWASP LLM Top 10: LLM09 misinformation",
    ),
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
        Example.not_applicable("an empty answer", {"answer": " ", "retrieved_contexts": [MUIR]}),
    ),
    differs_from="faithfulness asks whether any retrieved context supports a claim; this one checks each part of the "
    "answer against exactly the passages that it cites.",
)
async def citation(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """Whether the passages that the answer cites support what they are cited for, in full, in part or not at all.

        support of a part by a passage it cites = 1 full, .5 partial, 0 none
        citation_precision = mean over the cited passages of their mean support of the parts that cite them
        citation_recall = mean over the parts of their mean support by the passages they cite; 0 where they cite none
        citation_f1 = 2 · precision · recall / (precision + recall)

    A part is the text up to its markers [1], [1, 2] or [1][2]; [n] is the nth retrieved context. Markers are read as
    standing before their text only if the answer begins with one and continues that way to its end. An answer without
    markers is one part that cites the output's `citations`: numbers, or the text of a retrieved context.

    A passage that does not exist supports nothing: a made-up citation lowers precision and recall. Without any citation
    precision has no value, and recall and F1 are 0. An answer without text is not applicable.
    Evidence: how the markers were read, the parts, each citation with its verdict and the judge's reason, and markers
    without text.
    TREC 2024 RAG uses only the first citation of a part and ignores citations of passages that do not exist.
    """
    answer = case.answer or ""
    parts, reading, stray = cited_parts(answer)
    if not parts:
        return not_applicable("the answer has no text")
    cited = list(parts)
    how = f"{reading} markers" if reading != "none" else "no markers"
    if reading == "none" and case.citations:
        cited, how = [CitedPart(parts[0].text, _listed(case))], "citations of the output"
    asked = [(place, number) for place, part in enumerate(cited) for number in part.citations]
    judged = await together(_judged(judge, case, cited, place, number) for place, number in asked)
    recall = sum(_mean([entry.credit for entry in judged if entry.part == place]) for place in range(len(cited)))
    recall /= len(cited)
    passages = sorted({number for _, number in asked})
    precision = _mean([_mean([entry.credit for entry in judged if entry.context == number]) for number in passages])
    values = {
        "citation_precision": precision if passages else None,
        "citation_recall": recall,
        "citation_f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
    }
    facts = {
        "reading": how,
        "parts": [{"text": part.text, "contexts": list(part.citations)} for part in cited],
        "stray": list(stray),
    }
    evidence = Evidence({"citations": [entry.verdict for entry in judged]}, facts)
    return CaseScore(values, reason=None if passages else "the answer cites nothing", evidence=evidence)


async def _judged(judge: Judge, case: Case, parts: list[CitedPart], place: int, number: int) -> _Judged:
    """Return how well the passage of that number supports the part in that place."""
    text, contexts = parts[place].text, case.retrieved_contexts
    if not 1 <= number <= len(contexts):
        reply = _Support(reason=f"there are {len(contexts)} passages", support="none")
    else:
        # an answer of one part needs no further text to be understood
        whole = "\n".join(part.text for part in parts) if len(parts) > 1 else None
        data = {"ANSWER": whole, "STATEMENT": text, "PASSAGE": contexts[number - 1]}
        reply = await judge.ask(SUPPORT, _Support, data)
    verdict = Verdict(text, HOLDS[reply.support], reply.support, reply.reason, (("contexts", number),))
    return _Judged(place, number, CREDIT[reply.support], verdict)


def _listed(case: Case) -> tuple[int, ...]:
    """Return the numbers of the contexts that the output's citations name; 0 for a citation that names none."""
    numbers = []
    for entry in case.citations:
        if found := BARE_NUMBER.fullmatch(entry):
            numbers.append(int(found[1]))
        else:
            numbers.append(case.retrieved_contexts.index(entry) + 1 if entry in case.retrieved_contexts else 0)
    return tuple(dict.fromkeys(numbers))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
