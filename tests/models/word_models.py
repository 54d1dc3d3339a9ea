"""Stand-ins for local models whose numbers follow by hand from the words of a text; see also word_vectors.py."""

import re
from collections.abc import Callable, Mapping, Sequence
from math import log

import numpy as np

from metrics.models.classifier import Classified
from metrics.models.language_model import Loss
from metrics.models.token_encoder import Tokens

LIKELY, UNLIKELY = 0.98, 0.02
Text = str | tuple[str, str]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


class WordClassifier:
    """A classifier that is a rule: a text or a pair of texts → the probability of each label."""

    name = "words"
    weights = "0" * 64

    def __init__(
        self, labels: Sequence[str], independent: bool, rule: Callable[..., Sequence[float]], window: int = 10_000
    ) -> None:
        self.labels = tuple(labels)
        self.independent = independent
        self.rule = rule
        self.window = window
        self.asked: list[Text] = []

    def classify(self, texts: Sequence[Text]) -> Classified:
        self.asked += texts
        parts = [(text,) if isinstance(text, str) else text for text in texts]
        shares = np.array([self.rule(*own) for own in parts], float).reshape(len(texts), len(self.labels))
        logits = np.log(shares / (1 - shares)) if self.independent else np.log(shares)
        long = [sum(len(words(part)) for part in own) > self.window for own in parts]
        return Classified(logits, np.array(long, bool))


def consistent(premise: str, claim: str) -> tuple[float, float]:
    """The share of the claim's words that stand in the premise."""
    said = words(claim)
    share = sum(word in words(premise) for word in said) / len(said) if said else 0
    share = min(LIKELY, max(UNLIKELY, share))
    return 1 - share, share


def inferred(premise: str, claim: str) -> tuple[float, float, float]:
    """Entailed where all words stand in the premise, contradicted if only one side has a “not”, else neutral."""
    left, right = set(words(premise)), set(words(claim))
    if right - {"not"} <= left:
        return (0.90, 0.08, 0.02) if ("not" in left) == ("not" in right) else (0.02, 0.08, 0.90)
    return 0.05, 0.90, 0.05


def toxic(text: str) -> list[float]:
    """.9 for each label that one of the words brings, else .01."""
    brought = {label for word in words(text) for label in CUES.get(word, ())}
    return [0.9 if label in brought else 0.01 for label in TOXIC]


def biased(text: str) -> tuple[float, float]:
    """.8 with the word “always”, else .1."""
    share = 0.8 if "always" in words(text) else 0.1
    return 1 - share, share


def felt(text: str) -> tuple[float, float, float]:
    """Negative .8 with the word “bad”, positive .8 with “good”, else neutral .8."""
    said = words(text)
    return (0.8, 0.1, 0.1) if "bad" in said else (0.1, 0.1, 0.8) if "good" in said else (0.1, 0.8, 0.1)


def alike(left: str, right: str) -> list[float]:
    """The share of words that both texts have."""
    own, other = set(words(left)), set(words(right))
    return [min(LIKELY, max(UNLIKELY, len(own & other) / max(len(own | other), 1)))]


INFERENCE = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")
TOXIC = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
CUES = {"idiot": ("toxic", "insult"), "kill": ("toxic", "threat"), "damn": ("obscene",)}


def classifiers() -> Mapping[str, WordClassifier]:
    """The classifier that suits each evaluator, by its id."""
    return {
        "hallucination_hhem": WordClassifier(("hallucinated", "consistent"), False, consistent),
        "summarization_completeness_faithfulness": WordClassifier(INFERENCE, False, inferred),
        "toxicity_classifier": WordClassifier(TOXIC, True, toxic),
        "fairness_bias": WordClassifier(("Neutral", "Biased"), False, biased),
        "answer_semantic_similarity": WordClassifier(("LABEL_0",), True, alike),
        "sentiment": WordClassifier(("negative", "neutral", "positive"), False, felt),
    }


class WordPredictor:
    """A language model to which a word costs ln 2 if the text so far has it, else ln 8."""

    name = "words"
    weights = "0" * 64

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def losses(self, pairs: Sequence[tuple[str, str]]) -> list[Loss]:
        self.asked += pairs
        return [self._loss(words(prefix), words(target)) for prefix, target in pairs]

    def _loss(self, before: list[str], target: list[str]) -> Loss:
        known, total = set(before), 0.0
        for word in target:
            total += log(2) if word in known else log(8)
            known.add(word)
        return Loss(total / max(len(target), 1), len(target), 1)


class WordTokens:
    """A token encoder to which every word is an axis of its own; a mark of weight 0 stands before them."""

    name = "words"
    weights = "0" * 64
    width = 256

    def __init__(self) -> None:
        self._axes: dict[str, int] = {}

    def encode(self, texts: Sequence[str], layer: int | None = None) -> list[Tokens]:
        return [self._tokens(["[mark]", *words(text)]) for text in texts]

    def _tokens(self, said: list[str]) -> Tokens:
        table = np.zeros((len(said), self.width), np.float32)
        for row, word in enumerate(said):
            table[row, self._axes.setdefault(word, len(self._axes)) % self.width] = 1
        return Tokens(table, np.array([word != "[mark]" for word in said], float), False)
