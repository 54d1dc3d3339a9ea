"""Consistency of answers: how similar those of repeated runs are, in wording and in meaning."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from metrics.core.array_types import Floats
from metrics.core.cases import join_cases
from metrics.core.evaluator import Aggregate, CaseScore, Example, Findings, Metric, no_output, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.rounding import exact_sum
from metrics.core.sampling_design import SamplingDesign
from metrics.core.suite import Case, Outputs, Suite
from metrics.evaluators._token_vectors import BertscoreParameters, is_known, unknown_script
from metrics.evaluators.text.rouge import RougeParameters
from metrics.models.token_encoder import TokenEncoder, Tokens
from metrics.stats.heavy_tails import describe_unknown_end
from metrics.stats.intervals import mean_intervals
from metrics.text.overlap.rouge import TOKENIZER_OF, RougeText, RougeType, rouge, too_long
from metrics.text.overlap.similarity import greedy_matching, rescaled
from metrics.text.overlap.tokenizers import tokenized

consistency_evaluator = partial(
    evaluator,
    tasks=("text", "agent"),
    inputs=("answer",),
    repeats=True,
    default_needs=("repeats",),
    standards=("valid and reliable", "ongoing monitoring", "outcomes analysis"),
)


def repeats_by_case(suite: Suite, outputs: Outputs) -> dict[str, list[Case]]:
    """Return the repeats of every case of the suite, in its order, sorted by `run`; none without an output."""
    found: dict[str, list[Case]] = {case_id: [] for case_id in suite.cases["case_id"].to_pylist()}
    for case in join_cases(suite, outputs):
        found[case.case_id].append(case)
    return {case_id: sorted(repeats, key=lambda case: case.run) for case_id, repeats in found.items()}


def summarise(suite: Suite, metrics: Sequence[Metric], cases: Mapping[str, CaseScore]) -> Findings:
    """Return the mean of each metric over the cases that have a value, with a bootstrap interval over cases.

    Weighted if the suite has weights, resampled by `group` if it has groups. The scores of the cases are kept.
    """
    values = np.array(
        [
            [np.nan if (value := score.values.get(metric.name)) is None else value for metric in metrics]
            for score in cases.values()
        ],
        np.float64,
    ).reshape(len(cases), len(metrics))
    design = SamplingDesign.of(suite.cases)
    low, high = np.array([(metric.low, metric.high) for metric in metrics]).T
    lows, highs, method = mean_intervals(values, design.weights, design.clusters, low=low, high=high)
    return Findings(
        [
            _aggregate(metric, values[:, column], design, (lows[column], highs[column]), method, cases)
            for column, metric in enumerate(metrics)
        ],
        cases,
    )


def too_few(kind: str, there: int, evidence: Mapping[str, object]) -> CaseScore:
    """Return the score of a case with fewer than two repeats to compare."""
    return not_applicable(f"needs two {kind} of the case, has {there}", Evidence(facts=evidence))


def _aggregate(
    metric: Metric,
    values: Floats,
    design: SamplingDesign,
    interval: tuple[float, float],
    method: str,
    cases: Mapping[str, CaseScore],
) -> Aggregate:
    present = ~np.isnan(values)
    masses = present if design.weights is None else present * design.weights
    n = int(present.sum())
    if not masses.sum():
        reasons = [score.reason for score in cases.values() if score.reason] or ["no case"]
        reason = f"no case could be scored; most often: {max(sorted(set(reasons)), key=reasons.count)}"
        return Aggregate(metric.name, None, unscored=len(values), reason=reason)
    value = float((np.where(present, values, 0.0) * masses).sum() / masses.sum())
    low, high = (None if np.isnan(bound) else float(min(max(bound, metric.low), metric.high)) for bound in interval)
    why = None
    if (low is None) != (high is None):
        why = describe_unknown_end(values, design.weights, design.clusters, upper=high is None)
    known = None if low is None and high is None else method
    return Aggregate(metric.name, value, low, high, n, len(values) - n, reason=why, interval=known)


def repeated_scores(metric: str, *values: Sequence[float]) -> dict[str, Any]:
    """Return the stored scores of the cases 1, 2, … of an example in a metric (evaluator.metric), one a repeat."""
    evaluator, _, name = metric.partition(".")
    return {
        "scores": [
            {"case_id": str(number), "run": run, "evaluator": evaluator, "metric": name, "value": value, "status": "ok"}
            for number, repeats in enumerate(values, 1)
            for run, value in enumerate(repeats, 1)
        ]
    }


def repeated_answers(*answers: Sequence[str]) -> dict[str, Any]:
    """Return the cases 1, 2, … of an example, with the answers of their runs."""
    return {
        "cases": [{"case_id": str(number)} for number, _ in enumerate(answers, 1)],
        "outputs": [
            {"case_id": str(number), "run": run, "answer": answer}
            for number, repeats in enumerate(answers, 1)
            for run, answer in enumerate(repeats, 1)
        ],
    }


TYPES: tuple[RougeType, ...] = ("rouge1", "rouge2", "rougeL")
PARTS = {"precision": "precision", "recall": "recall", "f1": "f"}
SHOWN_PAIRS = 50
UNITS: dict[RougeType, str] = {
    "rouge1": "single tokens",
    "rouge2": "token pairs",
    "rougeL": "longest common subsequences",
    "rougeLsum": "longest common subsequences line by line",
}


def metrics_of(types: Sequence[RougeType]) -> tuple[Metric, ...]:
    """Return precision, recall and F1 of each variant; the primary one is F1 of rougeL, or of the first without it."""
    main = "rougeL" if "rougeL" in types else types[0]
    return tuple(
        Metric(
            f"{kind}_{part}",
            f"Mean {part.replace('f1', 'F1')} of {UNITS[kind]} over the pairs of answers.",
            primary=(kind, part) == (main, "f1"),
            minor=part != "f1",
        )
        for kind in types
        for part in PARTS
    )


class RougeConsistencyParameters(RougeParameters):
    """Which variants to compute, on which tokens, and whether on stems or words."""

    rouge_types: tuple[RougeType, ...] = Field(TYPES, min_length=1, description="The variants to compute.")

    @field_validator("rouge_types")
    @classmethod
    def _once(cls, types: tuple[RougeType, ...]) -> tuple[RougeType, ...]:
        return tuple(dict.fromkeys(types))

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return the metrics of the chosen variants."""
        return declared if self.rouge_types == TYPES else metrics_of(self.rouge_types)


@consistency_evaluator(
    title="Consistency: ROUGE",
    metrics=metrics_of(TYPES),
    has_thresholds=False,
    sources=("Open RAG Eval: consistency, rouge_score", "Lin 2004"),
    examples=(
        Example(
            "three answers make three pairs, and an empty fourth is only counted",
            repeated_answers(["the cat sat on the mat", "the cat is on the mat", "the cat", " "]),
            expect={
                "rouge1_recall": (5 / 6 + 1 / 3 + 1 / 3) / 3,
                "rouge1_f1": (5 / 6 + 0.5 + 0.5) / 3,
                "rouge2_f1": (0.6 + 1 / 3 + 1 / 3) / 3,
                "rougeL_f1": (5 / 6 + 0.5 + 0.5) / 3,
            },
            rows=({"metric": "rouge1_precision", "value": (5 / 6 + 1 + 1) / 3, "n": 1, "unscored": 0},),
        ),
        Example(
            "a mean over cases; a single run is not applicable",
            repeated_answers(["yes", "Yes!"], ["yes", "no"], ["no"]),
            rows=({"metric": "rougeL_f1", "value": 0.5, "n": 2, "unscored": 1},),
        ),
    ),
    differs_from="rouge compares with the expected answers; consistency_bertscore compares meanings instead of words.",
    differs_from_source="The formula does not differ: rouge_score without stemming. Other scripts than Latin have "
    "tokens of their own, as in rouge. Empty answers, and answers without any token, are not compared.",
    version=2,
)
def consistency_rouge(suite: Suite, outputs: Outputs, parameters: RougeConsistencyParameters) -> Findings:
    """How similar in wording the answers of a model to one case are over repeated runs: ROUGE of all pairs.

    For every pair of non-empty answers, with the earlier run as the reference: precision, recall and F1 of ROUGE-1, -2
    and -L (see `rouge`). The score of a case is the mean over its pairs, n·(n−1)/2 for n answers; that of the model is
    the mean over cases, with a bootstrap interval over cases. A score of 1 means that all runs say the same.

    A case needs two non-empty answers, else it is not applicable; empty answers are counted in the evidence and not
    compared. The `tokenizer` is one for all answers of a case, with "auto" by their script as in `rouge`. An answer
    without any token under it (punctuation alone) is not compared either. As in `rouge`, ROUGE-L of very long answers
    has no value.

    Evidence: the tokenizer, the runs compared, the number of empty answers, F1 of each pair (the first 50).
    """
    cases = {
        case_id: _case_by_wording(repeats, parameters) for case_id, repeats in repeats_by_case(suite, outputs).items()
    }
    return summarise(suite, metrics_of(parameters.rouge_types), cases)


def _case_by_wording(repeats: list[Case], parameters: RougeConsistencyParameters) -> CaseScore:
    if not repeats:
        return no_output()
    answered = [case for case in repeats if (case.answer or "").strip()]
    facts: dict[str, object] = {"runs": [case.run for case in answered], "empty": len(repeats) - len(answered)}
    if len(answered) < 2:
        return too_few("answers that are not empty", len(answered), facts)
    types = parameters.rouge_types
    tokenizer, texts, _ = tokenized(
        [case.answer or "" for case in answered],
        "",
        parameters.tokenizer,
        TOKENIZER_OF,
        lambda text, name: RougeText(text, parameters.use_stemmer, name),
    )
    facts["tokenizer"] = tokenizer
    readable = [(case.run, text) for case, text in zip(answered, texts, strict=True) if text]
    if len(readable) < 2:
        reason = f"fewer than two answers have a token ({tokenizer})"
        return not_applicable(reason, Evidence(facts=facts))
    pairs = list(combinations(readable, 2))
    found = list(rouge(((first, second) for (_, first), (_, second) in pairs), types))
    facts["pairs"] = [
        {"runs": [first, second], **{kind: scores[kind].f for kind in types if kind in scores}}
        for ((first, _), (second, _)), scores in zip(pairs[:SHOWN_PAIRS], found, strict=False)
    ]
    long = [kind for kind in types if any(kind not in scores for scores in found)]
    values = {
        f"{kind}_{part}": None if kind in long else sum(getattr(scores[kind], name) for scores in found) / len(found)
        for kind in types
        for part, name in PARTS.items()
    }
    return CaseScore(values, reason=too_long(long) if long else None, evidence=Evidence(facts=facts))


PORTION = 64  # answers whose token vectors are in memory at once, and those of one case
METRICS = (
    Metric(
        "consistency_bertscore", "Mean F1 of greedily matched tokens over the pairs of answers.", low=-1.0, primary=True
    ),
)


@consistency_evaluator(
    title="Consistency: BERTScore",
    metrics=METRICS,
    sources=("Open RAG Eval: consistency, bert_score", "Zhang et al. 2020"),
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
    differs_from_source="The default encoder is the bundled all-MiniLM-L6-v2, for the same scores on every machine and "
    "offline, instead of xlm-roberta-large, and scores are not rescaled unless that is asked for: the published "
    "baseline is of xlm-roberta-large, and there is none for other encoders. Empty answers, and answers in a script "
    "that the encoder does not know, are not compared.",
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
            cases[case_id] = _case_by_vectors(repeats, answered[case_id], encoded, parameters, token_encoder)
    return summarise(suite, METRICS, cases)


def _portions(repeats: dict[str, list[Case]]) -> Iterator[dict[str, list[Case]]]:
    portion: dict[str, list[Case]] = {}
    for case_id, own in repeats.items():
        portion[case_id] = own
        if sum(map(len, portion.values())) >= PORTION:
            yield portion
            portion = {}
    yield portion


def _case_by_vectors(
    repeats: Sequence[Case],
    answered: Sequence[Case],
    encoded: dict[str, Tokens],
    parameters: BertscoreParameters,
    model: TokenEncoder,
) -> CaseScore:
    if not repeats:
        return no_output()
    facts: dict[str, Any] = {"runs": [case.run for case in answered], "empty": len(repeats) - len(answered)}
    if len(answered) < 2:
        return too_few("answers that are not empty", len(answered), facts)
    facts |= {"model": model.name, "weights_sha256": model.weights}
    known = [case for case in answered if is_known(encoded[case.answer or ""])]
    if len(known) < 2:
        return not_applicable(unknown_script(model, "fewer than two answers"), Evidence(facts=facts))
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
    return CaseScore({"consistency_bertscore": exact_sum(scores) / len(scores)}, evidence=Evidence(facts=facts))
