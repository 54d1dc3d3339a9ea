"""The kinds of questions that are written about documents, and the prompts of each."""

from dataclasses import dataclass
from typing import Literal

from metrics.core.prompt import Prompt

Passages = Literal["one", "similar", "following"]

_WRITE = (
    "Write questions about PASSAGES, excerpts of documents, each under its title, and answer them. First copy into "
    "quotes the sentences of PASSAGES that the question rests on, exactly, at most three. {how} The reader of a "
    "question has not seen PASSAGES: name the place, person, product or subject in full, as the title does, and never "
    "speak of a passage, text, document, section or author. {answer} Ask about what matters to a reader, not about "
    "wording or page numbers. WANTED says how many questions, how long and, if one is named, in which language; else "
    "use that of PASSAGES. No question may be like another, or like one of ASKED. Where PASSAGES allow no such "
    "question, write none."
)
_FULL = "The answer is short and complete and says only what PASSAGES say."
_OPEN = "The answer is one sentence: the documents do not say, and what it is that they do not say."


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
    name: str,
    title: str,
    says: str,
    share: float,
    complexity: str,
    how: str,
    passages: Passages = "one",
    answer: str = _FULL,
    is_answered: bool = True,
) -> Kind:
    prompt = Prompt(f"questions.{name}", _WRITE.format(how=how, answer=answer))
    return Kind(name, title, says, share, complexity, prompt, passages, is_answered)


QUESTION_KINDS = {
    kind.name: kind
    for kind in (
        _kind(
            "factoid",
            "Factoid",
            "One fact that a passage states: who, what, when, where, how many",
            40,
            "simple",
            "Each asks for one fact that they state: who, what, which, when, where, how many, how much.",
        ),
        _kind(
            "reasoning",
            "Reasoning",
            "Needs an inference from what a passage says: why, how, what follows",
            20,
            "medium",
            "Each needs reasoning from what they say: why something is so, how it works, or what follows for somebody "
            "in a case that you describe. The answer follows from them but is not one of their sentences.",
        ),
        _kind(
            "multi_hop",
            "Multi-hop",
            "Needs facts from two passages together",
            15,
            "complex",
            "Each needs a fact from one passage and a fact from another: the first identifies what the second tells "
            "more about. One passage alone is not enough. Quote from both.",
            "similar",
        ),
        _kind(
            "comparison",
            "Comparison",
            "Compares what two passages say",
            5,
            "complex",
            "Each compares something that one passage tells with something that another tells: what they share, how "
            "they differ, which is more or earlier. One passage alone is not enough. Quote from both.",
            "similar",
        ),
        _kind(
            "summary",
            "Summary",
            "Asks for the main points of a section",
            5,
            "medium",
            "Each asks for an overview of one subject: the steps, the conditions, the main points. The answer gives "
            "them all, in a few sentences.",
            "following",
        ),
        _kind(
            "partially_answerable",
            "Partially answerable",
            "Two parts, of which the documents answer one",
            5,
            "complex",
            "Each asks two closely related things, of which they tell the first and nothing about the second.",
            answer="The answer tells the first as PASSAGES do, and says that the documents do not tell the second.",
        ),
        _kind(
            "unanswerable",
            "Unanswerable",
            "Sounds as if the documents held the answer; they do not",
            10,
            "complex",
            "Each is about their very subject and sounds as if they held the answer, but they do not: it asks for a "
            "detail, a number, a reason or a condition that they leave open.",
            answer=_OPEN,
            is_answered=False,
        ),
    )
}

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
