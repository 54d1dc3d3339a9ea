"""Sentiment: how positive or negative the answer's sentences are, according to a classifier."""

from collections.abc import Sequence

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.evaluators._classifiers import classifier_field
from metrics.models import classifier as classifiers
from metrics.models.classifier import Classifier
from metrics.text.sentences import sentences

SHOWN_SENTENCES = 20
NEUTRAL_BELOW = 1 / 3  # valence from which on a sentence is called positive, or negative


class SentimentParameters(Parameters):
    """Which model, and which of its labels."""

    classifier: str = classifier_field(
        "Classifier with a label “positive” and one “negative”", "cardiffnlp/twitter-roberta-base-sentiment-latest"
    )
    positive_label: str = Field("", description="The label that means positive; empty: the one called positive or pos.")
    negative_label: str = Field("", description="The label that means negative; empty: the one called negative or neg.")


@evaluator(
    tasks=("text", "agent"),
    inputs=("answer",),
    metrics=(
        Metric.neutral("sentiment", "Mean over sentences of p(positive) − p(negative).", low=-1.0, primary=True),
        Metric.neutral("positive", "Mean probability that a sentence is positive.", minor=True),
        Metric.neutral("negative", "Mean probability that a sentence is negative.", minor=True),
    ),
    sources=("Barbieri et al. 2020, TweetEval", "Hutto & Gilbert 2014, VADER"),
    standards=("valid and reliable", "fair"),
    examples=(
        Example(
            "one good sentence, one bad and one plain, with a model that goes by “good” and “bad”",
            {"answer": "It was good. It was bad. It was there."},
            {"sentiment": 0.0, "positive": (0.8 + 0.1 + 0.1) / 3, "negative": (0.1 + 0.8 + 0.1) / 3},
        ),
        Example("a good answer, with the same model", {"answer": "All is good."}, {"sentiment": 0.7}),
        Example.not_applicable("the answer is empty", {"answer": " "}),
    ),
    differs_from="toxicity and fairness_bias look for harm; a text can be negative without any, as bad news are. "
    "Neither end of sentiment is better.",
    differs_from_source="The scale from −1 to 1 is VADER's, the probabilities are a classifier's. VADER itself, a "
    "lexicon of English words, has had no release since 2020. No classifier is bundled and none is fetched unasked. "
    "Every sentence is read by itself, so that long answers are read whole; the source reads one short text.",
)
def sentiment(cases: Sequence[Case], parameters: SentimentParameters, classifier: Classifier) -> list[CaseScore]:
    """How positive or negative an answer is, according to a sentiment classifier.

        sentiment = mean over the answer's sentences of  p(positive) − p(negative)

    From −1, all negative, to 1, all positive; 0 is neutral or mixed, which `positive` and `negative` distinguish. What
    is right depends on the task: an apology should not be cheerful. Between groups of cases a difference is a sign that
    they are treated differently; compare them as slices. In which languages it works depends on the model.

    A model with further labels, such as neutral, is read as well. An empty answer is not applicable. Evidence: the
    sentences farthest from neutral (the first 20) with both probabilities, the number of sentences cut, the model and
    the sha256 of its weights.
    """
    places = [
        classifiers.require_label(classifier, "sentiment", *([chosen] if chosen else names))
        for chosen, names in (
            (parameters.positive_label, ("positive", "pos")),
            (parameters.negative_label, ("negative", "neg")),
        )
    ]
    split = [sentences(case.answer or "") for case in cases]
    scores = []
    for own, made in zip(split, classifiers.classify_groups(classifier, split), strict=True):
        if not own:
            scores.append(not_applicable("the answer is empty"))
            continue
        positive, negative = classifiers.probabilities(classifier, made.logits)[:, places].T
        valence = positive - negative
        judged = [
            Verdict(
                own[row],
                "unknown",
                "positive"
                if valence[row] >= NEUTRAL_BELOW
                else "negative"
                if valence[row] <= -NEUTRAL_BELOW
                else "neutral",
                facts={"positive": round(float(positive[row]), 6), "negative": round(float(negative[row]), 6)},
            )
            for row in sorted(range(len(own)), key=lambda row: -abs(valence[row]))[:SHOWN_SENTENCES]
        ]
        values = {"sentiment": float(valence.mean()), "positive": float(positive.mean())}
        values["negative"] = float(negative.mean())
        evidence = Evidence({"sentences": judged}, classifiers.provenance(classifier, made.truncated))
        scores.append(CaseScore(values, evidence=evidence))
    return scores
