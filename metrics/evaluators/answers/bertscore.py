"""BERTScore: how similar the answer is to an expected answer, token by token, by a model's vectors."""

from collections.abc import Mapping, Sequence
from typing import Any

from metrics.core.evaluator import CaseScore, Example, Metric, not_applicable, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators._token_vectors import BertscoreParameters, is_known, unknown_script
from metrics.models.token_encoder import TokenEncoder, Tokens
from metrics.stats.float_tolerance import highest_place
from metrics.text.overlap.similarity import greedy_matching, rescaled

CAT = {"answer": "the cat sat here", "expected_answers": ["the cat is there", "the cat"]}


@evaluator(
    title="BERTScore",
    tasks=("text", "agent"),
    inputs=("answer", "expected_answers"),
    version=2,
    metrics=(
        Metric("bertscore", "F1 of greedily matched tokens.", low=-1.0, primary=True, title="BERTScore"),
        Metric("precision", "Mean over the answer's tokens of the best match's cosine.", low=-1.0, minor=True),
        Metric("recall", "Mean over the expected answer's tokens of the best match's cosine.", low=-1.0, minor=True),
    ),
    sources=("Zhang et al. 2020",),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "the best of several expected answers, with a model of one axis per word: 2 of 4 and 2 of 2 tokens",
            CAT,
            {"bertscore": 2 / 3, "precision": 0.5, "recall": 1.0},
        ),
        Example(
            "rescaled so that a baseline of .5 becomes 0",
            CAT,
            {"bertscore": 1 / 3, "precision": 0.5, "recall": 1.0},
            parameters={"baseline": 0.5},
        ),
        Example("an empty answer", {"answer": " ", "expected_answers": ["the cat"]}, {"bertscore": 0, "recall": 0}),
        Example.not_applicable("no expected answer has text", {"answer": "the cat", "expected_answers": [" "]}),
    ),
    differs_from="answer_semantic_similarity compares one vector of each whole text; here every token is matched with "
    "its most similar one. consistency_bertscore compares a model's answers with each other instead of an expected "
    "one.",
    differs_from_source="The default encoder is the bundled all-MiniLM-L6-v2, for the same scores on every machine and "
    "offline, instead of roberta-large, and scores are not rescaled unless that is asked for; then F1 is, and "
    "precision and recall stay as they are. Tokens are not weighted by their rarity (idf), which is the source's "
    "default, too. An answer in a script that the encoder does not know has 0; where no expected answer is in one that "
    "it knows, the case is not applicable.",
)
def bertscore(cases: Sequence[Case], parameters: BertscoreParameters, token_encoder: TokenEncoder) -> list[CaseScore]:
    """How similar in meaning the answer is to an expected answer, token by token: BERTScore.

        P  = mean over the answer's tokens of the highest cosine with a token of the expected answer
        R  = mean over the expected answer's tokens of the highest cosine with a token of the answer
        F1 = 2 P R / (P + R)

    on the hidden states of a transformer. From −1 to 1, in practice above 0: without rescaling unrelated texts score
    far above it, depending on model and layer. Compare scores of one model only. With a `baseline` b an F1 counts as
    (F1 − b) / (1 − b), at least −1; it is a number per encoder, layer and language that somebody measured on unrelated
    sentences. Of several expected answers the one with the highest F1 counts, for precision and recall as well.

    An empty answer has 0, and so has one of which the encoder's vocabulary lacks more than half of the tokens. Not
    applicable are cases without text in an expected answer, and those whose expected answers it lacks: the bundled
    one reads Latin, Cyrillic, Greek, Arabic and
    Hebrew letters, but hardly Chinese, Thai or Ethiopic ones or emoji; xlm-roberta-large reads a hundred languages.
    Only the beginning of texts longer than the model's window is compared; the evidence counts them.
    Evidence: the expected answer that counted, the F1 with each, the model and the sha256 of its weights.
    """
    compared = [[text for text in (case.answer or "", *case.expected_answers) if text.strip()] for case in cases]
    texts = list(dict.fromkeys(text for own in compared for text in own))
    encoded = dict(zip(texts, token_encoder.encode(texts, parameters.layer) if texts else [], strict=True))
    return [_score(case, encoded, parameters, token_encoder) for case in cases]


def _score(
    case: Case, encoded: Mapping[str, Tokens], parameters: BertscoreParameters, model: TokenEncoder
) -> CaseScore:
    references = {number: text for number, text in enumerate(case.expected_answers, 1) if text.strip()}
    if not references:
        return not_applicable("no expected answer has text")
    facts: dict[str, Any] = {"model": model.name, "weights_sha256": model.weights}
    answer = case.answer or ""
    if not answer.strip():
        return CaseScore(dict.fromkeys(("bertscore", "precision", "recall"), 0.0), evidence=Evidence(facts=facts))
    own = encoded[answer]
    known = {number: encoded[text] for number, text in references.items() if is_known(encoded[text])}
    if not known or not is_known(own):
        scored, texts = (output_failure, "the answer only in part") if known else (not_applicable, "no expected answer")
        return scored(unknown_script(model, texts), Evidence(facts=facts))
    found = {
        number: greedy_matching(own.vectors, own.weights, wanted.vectors, wanted.weights)
        for number, wanted in known.items()
    }
    best = [*found][highest_place([each.f1 for each in found.values()])]
    facts |= {"expected_answer": best, "f1": {str(number): round(each.f1, 6) for number, each in found.items()}}
    if cut := own.truncated + sum(wanted.truncated for wanted in known.values()):
        facts["texts_read_in_part"] = cut
    baseline = parameters.subtracted
    f1 = found[best].f1 if baseline is None else rescaled(found[best].f1, baseline)
    values = {"bertscore": f1, "precision": found[best].precision, "recall": found[best].recall}
    return CaseScore(values, evidence=Evidence(facts=facts))
