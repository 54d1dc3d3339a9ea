"""METEOR: words and stems in common with the expected answer, and whether they stand in the same order."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators.text._overlap import overlap_evaluator, tokenize_cases
from metrics.text.overlap.meteor import meteor, meteor_counts
from metrics.text.overlap.tokenizers import CHOICES, Script, Tokenizer, TokenizerChoice, tokens

TOKENIZER_OF: Mapping[Script, Tokenizer] = {
    "latin": "13a", "spaced": "intl", "chinese": "zh", "japanese": "char", "unspaced": "char", "none": "char",
}  # fmt: skip
CAT = "The cat sat on the mat"
CATS = {"answer": "cats", "expected_answers": ["cat"]}


class MeteorParameters(Parameters):
    """The tokens, whether stems match, and the weights."""

    tokenizer: TokenizerChoice = Field("auto", description=f"How a text is cut into words. {CHOICES}")
    use_stemmer: bool = Field(True, description="Words that are left are compared by their Porter stems, too.")
    alpha: float = Field(0.9, ge=0, le=1, description="Weight of recall in the mean of precision and recall.")
    beta: float = Field(3.0, ge=0, le=10, description="How fast the penalty grows with the number of chunks.")
    gamma: float = Field(0.5, ge=0, le=1, description="The largest penalty.")


@overlap_evaluator(
    id="meteor",
    title="METEOR",
    metrics=(
        Metric(
            "meteor", "Weighted F of matched words, less a penalty for another order.", primary=True, title="METEOR"
        ),
        Metric("precision", "Share of the answer's words that have a match.", minor=True),
        Metric("recall", "Share of the expected answer's words that have a match.", minor=True),
        Metric.lower("penalty", "Share that is taken off for matches that are no neighbours.", minor=True),
    ),
    sources=("Banerjee & Lavie 2005", "NLTK"),
    differs_from="rouge1 counts the words in common without order, rougeL those in one order; METEOR counts inflected "
    "forms as the same word, weighs recall nine times as much as precision, and takes off for every break in the "
    "order.",
    differs_from_source="Synonyms do not match: they need the data of WordNet, which is fetched from the network. Else "
    "numbers are nltk's meteor_score of the same tokens, with its greedy alignment; Banerjee & Lavie seek the one with "
    "the fewest crossings. Tokens, which nltk leaves open, are sacreBLEU's 13a in Latin script, and characters where "
    "no space separates words. Stems are English, whatever the language.",
    examples=(
        Example(
            "equal but for case: six words in one chunk",
            {"answer": CAT.upper(), "expected_answers": [CAT]},
            {"meteor": 1 - 0.5 / 6**3, "precision": 1, "recall": 1, "penalty": 0.5 / 6**3},
        ),
        Example(
            "the same words in another order: no two matches are neighbours, so the penalty is the largest",
            {"answer": "on the mat sat the cat", "expected_answers": [CAT]},
            {"meteor": 0.5, "precision": 1, "recall": 1, "penalty": 0.5},
        ),
        Example("cats is cat by its stem", CATS, {"meteor": 0.5, "precision": 1, "recall": 1, "penalty": 0.5}),
        Example(
            "without stems it is another word", CATS, {"meteor": 0, "precision": 0}, parameters={"use_stemmer": False}
        ),
        Example("an empty answer", {"answer": "", "expected_answers": ["cat"]}, {"meteor": 0}),
        Example.not_applicable("no expected answer has a token", {"answer": "cat", "expected_answers": [" "]}),
    ),
    version=2,
)
def meteor_score(cases: Sequence[Case], parameters: MeteorParameters) -> list[CaseScore]:
    """How many words, or their stems, the answer shares with an expected answer, and whether in the same order: METEOR.

        METEOR  = (1 − penalty) · P·R / (α·P + (1 − α)·R)
        penalty = γ · (chunks / matches)^β
        P, R    = matches / words of the answer, of the expected answer

    From 0 to 1, α = .9, β = 3, γ = .5. From the end of the answer on, each word is matched with the last free equal
    word of the expected answer, then those that are left by their Porter stems. A chunk is a run of matches that are
    neighbours in both texts: one chunk is the least penalty. Words are in lower case.

    Of several expected answers the one with the highest METEOR counts, for precision, recall and penalty as well.
    Nothing in common and an empty answer give 0. Expected answers without any word are not applicable.
    Evidence: the expected answer that counted, words matched exactly and by stem, chunks, lengths, the tokenizer. Equal
    to nltk's meteor_score of the tokens, in its exact and stem mode.
    """
    scores = []
    for case in tokenize_cases(cases, parameters.tokenizer, TOKENIZER_OF, _lower_tokens):
        if case.lacking:
            scores.append(case.without_tokens)
            continue
        each = [meteor_counts(reference, case.answer, parameters.use_stemmer) for reference in case.references]
        values = [meteor(counts, parameters.alpha, parameters.beta, parameters.gamma) for counts in each]
        best = max(range(len(each)), key=lambda place: (values[place], each[place].matches))
        counts = each[best]
        matched = counts.matches
        own: dict[str, float | None] = {
            "meteor": values[best],
            "precision": matched / counts.length if matched else 0.0,
            "recall": matched / counts.reference_length if matched else 0.0,
            "penalty": parameters.gamma * (counts.chunks / matched) ** parameters.beta if matched else None,
        }
        reason = None if matched else "no word has a match"
        facts = {"tokenizer": case.tokenizer, "expected_answer": best + 1, **counts._asdict()}
        scores.append(CaseScore(own, reason=reason, evidence=Evidence(facts=facts)))
    return scores


def _lower_tokens(text: str, tokenizer: Tokenizer) -> list[str]:
    return [token.lower() for token in tokens(text, tokenizer)]
