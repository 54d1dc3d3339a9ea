"""How the local judge is asked in place of some prompts: a small model answers a short question better than a long one.

The least probabilities of "yes" that count as a yes were chosen on the bundled sample suite, of whose answers and
passages it is known whether they are right; the judge page says how far the verdicts can be trusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

VERSION = 2  # of all that the local judge makes of a request: raise it on any change
SENTENCES = "claims"  # the step whose reply is the sentences of its TEXT that state something
BARE = 6  # words; a text of so few is completed by its question
ENTAILMENT = "entailment"


@dataclass(frozen=True, slots=True)
class Question:
    """A yes-or-no question about data blocks, which are `shown` by name, each behind its heading, in this order.

    `yes`: the least P(yes) that counts as a yes.
    """

    shown: Mapping[str, str]
    ask: str
    yes: float

    def text(self, data: Mapping[str, str]) -> str:
        """Return the question about this data; blocks that are absent are left out."""
        parts = [f"{heading}{data[name]}" for name, heading in self.shown.items() if data.get(name)]
        return "\n\n".join([*parts, f"{self.ask} Answer yes or no."])


SHORT = {  # by the id of the prompt
    ENTAILMENT: Question(
        {"CONTEXTS": "Context:\n", "CLAIMS": "Claim: "}, "Does the claim follow from the context?", 0.4
    ),
    SENTENCES: Question({"TEXT": "Sentence: "}, "Does the sentence state a fact?", 0.42),
    "answer_relevance.relevant": Question(
        {"QUESTION": "Question: ", "CLAIMS": "Statement: "}, "Does the statement help to answer the question?", 0.42
    ),
    "context_precision.useful": Question(
        {"CONTEXTS": "Context:\n", "QUESTION": "Question: ", "EXPECTED": "Answer: "},
        "Does the context hold information that the answer needs?",
        0.72,
    ),
    "no_answer": Question({"QUESTION": "Question: ", "ANSWER": "Reply: "}, "Does the reply answer the question?", 0.5),
}
