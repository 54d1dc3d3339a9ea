"""Short questions that replace some prompts for the local judge: a small model answers them better than long ones.

The probabilities of "yes" from which a reply counts as yes were chosen on the bundled sample suite, whose correct
answers and passages are known; the judge page shows how well the verdicts agree with people.
"""

from collections.abc import Mapping
from dataclasses import dataclass

VERSION = 2  # of how the local judge handles a request: raise it on any change
SENTENCES = "claims"  # the step that replies with the sentences of TEXT that state something
BARE = 6  # words; a text of at most as many is completed by its question
ENTAILMENT = "entailment"


@dataclass(frozen=True, slots=True)
class Question:
    """A yes-or-no question about data blocks: `shown` maps their names to headings, in order.

    `yes`: the P(yes) from which the reply counts as yes.
    """

    shown: Mapping[str, str]
    ask: str
    yes: float

    def text(self, data: Mapping[str, str]) -> str:
        """Return the question about this data, without absent blocks."""
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
