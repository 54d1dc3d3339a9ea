"""Short questions that replace some prompts for the local judge: a small model answers them better than long ones.

The instruction and what the items share come first, the item last: the model reads the beginning once and keeps it.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from metrics.text.stated_numbers import unstated

VERSION = 5  # of how the local judge handles a request: raise it on any change
SENTENCES = "claims"  # the step that replies with the sentences of TEXT that state something
ENTAILMENT = "entailment"
FULLY = 0.999_9  # P(yes) is kept between 1 − FULLY and FULLY, so that its logit is finite
ASKED = re.compile(r"(?P<question>[^\n]*\?) (?P<answer>[^?]+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Scale:
    """The calibration of a question: from the model's P(yes) to the probability that the answer is yes.

        P = σ(slope · logit P(yes) + offset + number · [the context lacks a number of the claim] + several · ln(claims))

    `claims` are asked about together: a text is wrong for one wrong claim, so each of several is right more often than
    a claim that stands alone. The plain scale changes nothing.
    """

    slope: float = 1.0
    offset: float = 0.0
    number: float = 0.0
    several: float = 0.0

    def share(self, yes: float, lacks_number: bool = False, claims: int = 1) -> float:
        """Return the calibrated probability of yes, from 0 to 1."""
        known = self.number * lacks_number + self.several * math.log(claims)
        return 1 / (1 + math.exp(-(self.slope * logit_of(yes) + self.offset + known)))


@dataclass(frozen=True, slots=True)
class Question:
    """A yes-or-no question: `first` stands before the data, `last` after it.

    `shown` maps the names of data blocks to headings, in order.
    """

    shown: Mapping[str, str]
    first: str = ""
    last: str = ""
    scale: Scale = Scale()

    def text(self, data: Mapping[str, str]) -> str:
        """Return the question about this data, without absent blocks."""
        parts = [f"{heading}{data[name]}" for name, heading in self.shown.items() if data.get(name)]
        return "\n\n".join(part for part in (self.first, *parts, self.last) if part)


# The scales come from `python -m tests.benchmarks.fit_local_judge`; this one is for claims, and for bare answers with
# their question. `several` is the one with which the least supported claim divides whole texts best at .5.
FOLLOWING = Scale(slope=0.99, offset=0.09, number=-2.18, several=0.75)
FOLLOWS = "Read the context, then decide whether the claim follows from it. Answer yes or no."
SHORT = {  # by the id of the prompt
    ENTAILMENT: Question({"CONTEXTS": "Context:\n", "CLAIMS": "Claim: "}, first=FOLLOWS, scale=FOLLOWING),
    "answer_relevance.relevant": Question(
        {"QUESTION": "Question: ", "CLAIMS": "Statement: "},
        last="Does the statement help to answer the question? Answer yes or no.",
        scale=Scale(slope=3.58, offset=1.91),
    ),
    "context_precision.useful": Question(
        {"CONTEXTS": "Context:\n", "QUESTION": "Question: ", "EXPECTED": "Answer: "},
        last="Does the context hold information that the answer needs? Answer yes or no.",
        scale=Scale(slope=5.05, offset=-4.48),
    ),
    "context_relevance.relevant": Question(
        {"CONTEXTS": "Context:\n", "QUESTION": "Question: "},
        last="Does the context contain an answer to the question? Answer yes or no.",
        scale=Scale(slope=2.22, offset=-2.59),
    ),
    "no_answer": Question(
        {"QUESTION": "Question: ", "ANSWER": "Reply: "},
        last="Does the reply answer the question? Answer yes or no.",
        # the fitted scale takes more hedged answers for attempts, and twice as many refusals with an attack behind them
    ),
}
# a bare answer and its question
ANSWERS = Question({"CONTEXTS": "Context:\n", "ASKED": "Question: "}, first=FOLLOWS, scale=FOLLOWING)


def logit_of(share: float) -> float:
    """Return the logit of a probability, kept within ±logit(FULLY)."""
    inner = min(max(share, 1 - FULLY), FULLY)
    return math.log(inner / (1 - inner))


def question_and_answer(claim: str) -> tuple[str, str] | None:
    """Return the parts of a claim that is a question with its bare answer ("Who wrote it? Ann Lee"); else None."""
    found = ASKED.fullmatch(claim.strip())
    return (found["question"], found["answer"]) if found else None


def missing_numbers(claim: str, context: str) -> list[str]:
    """Return the numbers of a claim, those of its answer where it is a question with one, that the context lacks."""
    parts = question_and_answer(claim)
    return unstated(parts[1] if parts else claim, context)
