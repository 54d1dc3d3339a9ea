"""The kinds of questions that are written about documents, and the prompts of each."""

from dataclasses import dataclass
from typing import Literal

from metrics.core.prompt import Prompt

Passages = Literal["one", "similar", "following"]

_WRITE = (
    "PASSAGES are excerpts from a collection of documents, each under the title of its document. Write the number of "
    "questions that WANTED says, each with its answer. {how} "
    "Somebody will ask these questions of a search assistant without having seen PASSAGES. So each question must be "
    "understood on its own: name the person, place, product or subject in full, and never speak of 'the passage', 'the "
    "text', 'the document', 'the author' or 'the following'. Keep to the language and the lengths that WANTED says; "
    "without a language, use that of PASSAGES. {answer} Ask about what matters to a reader, not about wording, "
    "headings, page numbers or file names. The questions must differ from one another and, where it is given, from "
    "every one in ASKED. quotes are the sentences of PASSAGES on which the answer rests, copied exactly, at most "
    "three. If PASSAGES do not allow such a question, write fewer or none."
)
_FULL = "The answer is complete, correct and short, and says nothing that PASSAGES do not say."
_OPEN = (
    "The answer is one sentence that says that the documents do not tell it, naming what they do not tell; quotes are "
    "the sentences that come nearest to it."
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of question; `share` is its weight where the user gives none, `complexity` that of its cases.

    A question is written from `one` passage, from two `similar` ones, or from some that are `following` one another.
    """

    name: str
    title: str
    says: str
    share: float
    complexity: str
    prompt: Prompt
    passages: Passages = "one"
    is_answered: bool = True


def _kind(
    name: str, title: str, says: str, share: float, complexity: str, how: str, passages: Passages = "one",
    answer: str = _FULL, is_answered: bool = True,
) -> Kind:  # fmt: skip
    prompt = Prompt(f"questions.{name}", _WRITE.format(how=how, answer=answer))
    return Kind(name, title, says, share, complexity, prompt, passages, is_answered)


KINDS = {
    kind.name: kind
    for kind in (
        _kind(
            "factoid", "Factoid", "One fact that a passage states: who, what, when, where, how many", 40, "simple",
            "Each asks for one fact that PASSAGES state outright: who, what, which, when, where, how many, how much.",
        ),
        _kind(
            "reasoning", "Reasoning", "Needs an inference from what a passage says: why, how, what follows", 20,
            "medium",
            "Each needs reasoning from what PASSAGES say: why something is so, how it works, what follows in a case "
            "that they describe. The answer must follow from PASSAGES alone but not be copied from one sentence.",
        ),
        _kind(
            "multi_hop", "Multi-hop", "Needs facts from two passages together", 15, "complex",
            "Each can only be answered with facts from two of the PASSAGES together: what one says leads to what must "
            "be looked up in the other. One passage alone must not be enough. Quote from both.", "similar",
        ),
        _kind(
            "comparison", "Comparison", "Compares what two passages say", 5, "complex",
            "Each asks to compare two things of which one is described in one of the PASSAGES and the other in "
            "another: what they share, how they differ, which is more. One passage alone must not be enough. Quote "
            "from both.", "similar",
        ),
        _kind(
            "summary", "Summary", "Asks for the main points of a section", 5, "medium",
            "Each asks for an overview of what PASSAGES say on one subject: the steps, the conditions, the main "
            "points. The answer gives them all, in a few sentences.", "following",
        ),
        _kind(
            "partially_answerable", "Partially answerable", "Two parts, of which the documents answer one", 5,
            "complex",
            "Each asks two closely related things, of which PASSAGES answer the first and say nothing about the "
            "second.", answer="The answer gives what PASSAGES say on the first and says that the documents do not tell "
            "the second.",
        ),
        _kind(
            "unanswerable", "Unanswerable", "Sounds as if the documents held the answer; they do not", 10, "complex",
            "Each is about the very subject of PASSAGES and sounds as if they held the answer, but they do not: it "
            "asks for a detail, number, reason or condition that they leave open.", answer=_OPEN, is_answered=False,
        ),
    )
}  # fmt: skip

CHECK = Prompt(
    "questions.check",
    "QUESTION and ANSWER are a proposed exam item about PASSAGES. Is the item 'good': does everything in ANSWER follow "
    "from PASSAGES, does it answer the whole of QUESTION, and is QUESTION clear to somebody who has not seen PASSAGES? "
    "Else it is 'wrong', where ANSWER says what PASSAGES do not say, contradicts them or does not answer QUESTION; or "
    "'unclear', where QUESTION speaks of a text or leaves open whom or what it means. An ANSWER may say that the "
    "documents do not tell something, where that is true of PASSAGES. Verdict: good, wrong or unclear.",
)
ANSWERED = Prompt(
    "questions.answered",
    "Do PASSAGES hold the answer to QUESTION, so that a careful reader could answer it from them alone? Verdict: no or "
    "yes.",
)
ALONE = Prompt(
    "questions.alone",
    "For each of the PASSAGES, taken alone, without the others: does it hold everything that is needed to give ANSWER "
    "to QUESTION? Verdict: no where a part is missing in it, else yes.",
)
