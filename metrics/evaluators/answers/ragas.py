"""RAGAS: the harmonic mean of faithfulness, answer relevancy, context precision and context recall."""

from statistics import harmonic_mean

from metrics.core.evaluator import CaseScore, Evaluator, Example, Metric, Parameters, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators._scripted import claims_reply, entailment_reply, verdicts_reply
from metrics.evaluators.answers.answer_relevance import QUESTIONS, answer_relevancy
from metrics.evaluators.grounding.supported_claims import faithfulness
from metrics.evaluators.retrieval.references import USEFUL, context_precision, context_recall
from metrics.judge.asking import Judge
from metrics.judge.steps import CLAIMS, ENTAILMENT, NO_CLAIMS, together
from metrics.models.embedder import Embedder

PARIS = {
    "question": "What is the capital of France?",
    "expected_answers": ["Paris is the capital of France, on the Seine."],
    "answer": "It is Paris, with 5 million people.",
    "retrieved_contexts": ["France is in Europe.", "Paris is France's capital."],
}


def _replies(supported: bool) -> tuple[ScriptedReply, ...]:
    """Relevancy 1, context precision 1/2, context recall 1/2; faithfulness 1/2 or 0."""
    answered = ["Paris is the capital of France.", "Paris has 5 million people."]
    expected = ["The capital of France is Paris.", "Paris lies on the Seine."]
    return (
        claims_reply(*answered, text="5 million"),
        claims_reply(*expected, text="Seine"),
        entailment_reply([2] * supported, [], CLAIMS="5 million"),
        entailment_reply([2], [], CLAIMS="Seine"),
        ScriptedReply(QUESTIONS.id, [{"question": PARIS["question"], "evasive": "no"}] * 3),
        verdicts_reply(USEFUL.id, "no", "yes"),
    )


@evaluator(
    title="RAGAS",
    inputs=("question", "answer", "expected_answers", "retrieved_contexts"),
    prompts=(CLAIMS, ENTAILMENT, QUESTIONS, USEFUL),
    metrics=Metric("ragas", "Harmonic mean of faithfulness, answer relevancy, context precision and context recall."),
    sources=("H2O Eval Studio, after RAGAS",),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example("the harmonic mean of 1/2, 1, 1/2 and 1/2", PARIS, {"ragas": 4 / 7}, judge=_replies(True)),
        Example("one part is 0", PARIS, {"ragas": 0.0}, judge=_replies(False)),
        Example.not_applicable(
            "one part has no value",
            {**PARIS, "answer": "I do not know."},
            judge=(claims_reply(text="I do not know."), *_replies(True)),
        ),
    ),
    differs_from="Each of the four parts is also an evaluator of its own. answer_correctness is not among them: a "
    "faithful answer from good contexts can still be wrong.",
    differs_from_source="The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine "
    "and offline, instead of a BGE model such as H2O uses, to which its threshold .75 belongs (each model gets its own "
    "by calibration); it is used for answer relevancy. The prompts are worded by Assay. A negative answer relevancy "
    "counts as 0. A part without a value leaves the whole without one.",
    version=4,
)
async def ragas(case: Case, parameters: Parameters, judge: Judge, embedder: Embedder) -> CaseScore:
    """One number for retrieval and generation: the harmonic mean of four metrics, dominated by the lowest.

        ragas = 4 / (1/faithfulness + 1/answer_relevancy + 1/context_precision + 1/context_recall)

    From 0 to 1. The parts are the evaluators of these names with their default parameters; if they run as well, the
    judge is asked only once. A part of 0 makes the score 0, and so does a negative answer relevancy.

    If a part has no value, the case is not applicable, and the reason names the part; an answer that makes no claim has
    0 where another part is 0.
    Evidence: the four values and the evidence of each part.
    """
    parts = (faithfulness, answer_relevancy, context_precision, context_recall)
    scores = await together(_score(part, case, judge, embedder) for part in parts)
    values = {part.id: score.values.get(part.id) for part, score in zip(parts, scores, strict=True)}
    parts_evidence = [score.evidence for score in scores if score.evidence is not None]
    evidence = Evidence(
        {name: group for part in parts_evidence for name, group in part.verdicts.items()},
        {**values, **{name: fact for part in parts_evidence for name, fact in part.facts.items()}},
    )
    known = [value for value in values.values() if value is not None]
    silent = scores[0].reason == NO_CLAIMS and len(known) == len(parts) - 1 and min(known) <= 0
    if len(known) < len(parts) and not silent:
        missing = [
            f"{name} has no value: {score.reason}"
            for (name, value), score in zip(values.items(), scores, strict=True)
            if value is None
        ]
        return not_applicable("; ".join(missing), evidence)
    return CaseScore({"ragas": harmonic_mean([max(0.0, value) for value in known])}, evidence=evidence)


async def _score(part: Evaluator, case: Case, judge: Judge, embedder: Embedder) -> CaseScore:
    resources: dict[str, Judge | Embedder] = {"judge": judge, "embedder": embedder}
    parameters = part.parameters.model_validate({})
    given = {name: resources[name] for name in parameters.used(part.resources)}
    return part.settle(await part(case, parameters, **given))
