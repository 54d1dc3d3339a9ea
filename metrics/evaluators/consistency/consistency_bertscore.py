"""Consistency by BERTScore: how similar in meaning the answers of repeated runs are, token by token."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from metrics.core.evaluator import CaseScore, Example, Findings, Metric, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case, Outputs, Suite
from metrics.evaluators._token_vectors import BertscoreParameters, is_known, unknown_script
from metrics.evaluators.consistency._examples import repeated_answers
from metrics.evaluators.consistency._repeats import NO_OUTPUT, repeats_by_case, summarised, too_few
from metrics.models.token_encoder import TokenEncoder, Tokens
from metrics.text.overlap.bertscore import greedy_matching, rescaled

SHOWN_PAIRS = 50
PORTION = 64  # answers whose token vectors are in memory at once, and those of one case
METRICS = (
    Metric(
        "consistency_bertscore", "Mean F1 of greedily matched tokens over the pairs of answers.", low=-1.0, primary=True
    ),
)


@evaluator(
    id="consistency_bertscore",
    title="Consistency: BERTScore",
    tasks=("text", "agent"),
    inputs=("answer",),
    metrics=METRICS,
    repeats=True,
    default_needs=("repeats",),
    sources=("Open RAG Eval: consistency, bert_score", "Zhang et al. 2020"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: ongoing monitoring", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "three answers make three pairs, and an empty fourth is only counted, with a model of one axis per word",
            repeated_answers(["the cat sat here", "the cat is there", "the cat", " "]),
            rows=({"metric": "consistency_bertscore", "value": (1 / 2 + 2 / 3 + 2 / 3) / 3, "n": 1, "unscored": 0},),
        ),
        Example(
            "rescaled so that a baseline of .5 becomes 0",
            repeated_answers(["the cat sat here", "here sat the cat"], ["the cat sat here", "the cat is there"]),
            rows=({"metric": "consistency_bertscore", "value": 0.5, "n": 2, "unscored": 0},),
            parameters={"baseline": 0.5},
        ),
    ),
    differs_from="consistency_rouge compares the wording; consistency_statistics compares another metric over runs.",
    differs_from_source=(
        "The default encoder is the bundled all-MiniLM-L6-v2, for the same scores on every machine and offline, "
        "instead of xlm-roberta-large, and scores are not rescaled unless that is asked for: the published baseline is "
        "of xlm-roberta-large, and there is none for other encoders. Empty answers, and answers in a script that the "
        "encoder does not know, are not compared."
    ),
    version=2,
)
def consistency_bertscore(
    suite: Suite, outputs: Outputs, parameters: BertscoreParameters, token_encoder: TokenEncoder
) -> Findings:
    """How similar in meaning the answers of a model to one case are over repeated runs: BERTScore of all pairs.

        F1 = 2 P R / (P + R)
        P  = mean over one answer's tokens of the highest cosine with a token of the other's;  R  the other way round

    on the hidden states of a transformer. The score of a case is the mean F1 over its pairs, n·(n−1)/2 for n non-empty
    answers; that of the model is the mean over cases, with a bootstrap interval over cases. With a `baseline` b an F1
    counts as (F1 − b) / (1 − b), at least −1. A score of 1 means that all runs say the same. Without rescaling,
    unrelated texts score far above 0, depending on model and layer: compare scores of one model only. The baseline is a
    number per encoder, layer and language that somebody measured on unrelated sentences: it is looked up where it was
    published (`rescale_with_baseline`), else it must be given; none is guessed.

    A case needs two non-empty answers, else it is not applicable; empty answers are counted in the evidence and not
    compared. Nor is an answer of which the encoder's vocabulary lacks more than half of the tokens: to the encoder all
    such texts are alike. The bundled one reads Latin, Cyrillic, Greek, Arabic and Hebrew letters, but hardly Chinese,
    Thai or Ethiopic ones or emoji; xlm-roberta-large reads a hundred languages. Only the beginning of answers longer
    than the model's window is compared; the evidence counts them.
    Evidence: the runs compared, the number of empty answers, F1 of each pair (the first 50), the model and the sha256
    of its weights.
    """
    cases: dict[str, CaseScore] = {}
    for portion in _portions(repeats_by_case(suite, outputs)):
        answered = {case_id: [case for case in own if (case.answer or "").strip()] for case_id, own in portion.items()}
        texts = list(dict.fromkeys(case.answer or "" for own in answered.values() if len(own) > 1 for case in own))
        encoded = dict(zip(texts, token_encoder.encode(texts, parameters.layer) if texts else [], strict=True))
        for case_id, repeats in portion.items():
            cases[case_id] = _case(repeats, answered[case_id], encoded, parameters, token_encoder)
    return summarised(suite, METRICS, cases)


def _portions(repeats: dict[str, list[Case]]) -> Iterator[dict[str, list[Case]]]:
    portion: dict[str, list[Case]] = {}
    for case_id, own in repeats.items():
        portion[case_id] = own
        if sum(map(len, portion.values())) >= PORTION:
            yield portion
            portion = {}
    yield portion


def _case(
    repeats: Sequence[Case],
    answered: Sequence[Case],
    encoded: dict[str, Tokens],
    parameters: BertscoreParameters,
    model: TokenEncoder,
) -> CaseScore:
    if not repeats:
        return not_applicable(NO_OUTPUT)
    facts: dict[str, Any] = {"runs": [case.run for case in answered], "empty": len(repeats) - len(answered)}
    if len(answered) < 2:
        return too_few("answers that are not empty", len(answered), facts)
    facts |= {"model": model.name, "weights_sha256": model.weights}
    known = [case for case in answered if is_known(encoded[case.answer or ""])]
    if len(known) < 2:
        return not_applicable(
            unknown_script(model, "fewer than two answers"),
            Evidence(facts=facts),
        )
    facts["runs"] = [case.run for case in known]
    if len(known) < len(answered):
        facts["answers_of_unknown_script"] = len(answered) - len(known)
    scores = []
    for first, second in combinations([encoded[case.answer or ""] for case in known], 2):
        f1 = greedy_matching(second.vectors, second.weights, first.vectors, first.weights).f1
        scores.append(f1 if parameters.subtracted is None else rescaled(f1, parameters.subtracted))
    facts["pairs"] = [
        {"runs": list(runs), "f1": round(f1, 6)}
        for runs, f1 in zip(combinations(facts["runs"], 2), scores, strict=True)
    ][:SHOWN_PAIRS]
    cut = sum(encoded[case.answer or ""].truncated for case in known)
    if cut:
        facts["texts_read_in_part"] = cut
    return CaseScore({"consistency_bertscore": sum(scores) / len(scores)}, evidence=Evidence(facts=facts))
