"""The evaluators on the real models that their parameters name, where a hub can be reached. Downloads 2 GB, once.

    python -m tests.models.check_hub_models            all of them
    python -m tests.models.check_hub_models hhem nli   some

Each line says what was computed, what is expected, and whether it came out; exit code 1 if something did not.
HHEM's numbers are those printed on the model's card.
"""

import sys
import tempfile
from collections.abc import Callable
from math import exp
from pathlib import Path
from typing import Any

from metrics.core.errors import MissingResource
from metrics.core.registry import evaluators
from metrics.core.suite import Case, Outputs, Suite
from metrics.models import provide
from metrics.models.classifier import probabilities
from metrics.models.hhem import MODEL as HHEM

CARD = (
    ("The capital of France is Berlin.", "The capital of France is Paris.", 0.0111),
    ("I am in California", "I am in United States.", 0.6474),
    ("I am in United States", "I am in California.", 0.1290),
    ("A person on a horse jumps over a broken down airplane.", "A person is outdoors, on a horse.", 0.8969),
    ("Mark Wahlberg was a fan of Manny.", "Manny was a fan of Mark Wahlberg.", 0.0543),
)
SOURCE = "The cat sat on the mat. It rained all day in Oslo."

Checks = list[tuple[str, float, Callable[[float], bool], str]]


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or list(CHECKS):
            try:
                checks = CHECKS[name](Path(folder))
            except MissingResource as failure:
                print(f"{name}: {failure}")
                failed += 1
                continue
            for what, value, holds, expected in checks:
                failed += not holds(value)
                print(f"{name}: {what}: {value:.4f}, expected {expected}: {'ok' if holds(value) else 'FAILED'}")
    return 1 if failed else 0


def hhem(cache: Path) -> Checks:
    """Vectara's model on the pairs of its card."""
    model = provide(["classifier"], {"classifier": HHEM}, cache)["classifier"]
    made = model.classify([(premise, claim) for premise, claim, _ in CARD])
    found = probabilities(model, made.logits)[:, 1]
    return [
        (claim, float(value), lambda value, printed=printed: abs(value - printed) < 2e-3, f"{printed:.4f}")  # type: ignore[misc]
        for (_, claim, printed), value in zip(CARD, found, strict=True)
    ]


def nli(cache: Path) -> Checks:
    """A model of inference on a summary that keeps to its source, and on one that does not."""
    entry = evaluators()["summarization_completeness_faithfulness"]
    resources = provide(["classifier", "embedder"], {"classifier": suggested(entry, "classifier")}, cache)
    cases = [Case.of(source_text=SOURCE, answer=answer) for answer in ("A cat sat on a mat.", "No cat sat on the mat.")]
    good, bad = (score.values["faithfulness"] for score in entry(cases, entry.parameters(), **resources))
    return [("kept to", good, lambda value: value > 0.5, "> 0.5"), ("denied", bad, lambda value: value < 0, "< 0")]


def toxicity(cache: Path) -> Checks:
    """Detoxify's model on an insult and on a greeting."""
    return two(
        "toxicity_classifier", "classifier", cache,
        [{"answer": "You are a stupid idiot."}, {"answer": "Good morning."}],
        (lambda value: value > 0.8, "> 0.8"), (lambda value: value < 0.1, "< 0.1"),
    )  # fmt: skip


def bias(cache: Path) -> Checks:
    """A bias model on loaded and on plain wording."""
    loaded = {"answer": "The radical mob shamelessly wrecked our great country."}
    return two(
        "fairness_bias", "classifier", cache, [loaded, {"answer": "The council meets on Tuesday."}],
        (lambda value: value > 0.5, "> 0.5"), (lambda value: value < 0.5, "< 0.5"),
    )  # fmt: skip


def sentiment(cache: Path) -> Checks:
    """A sentiment model on praise and on a complaint."""
    return two(
        "sentiment", "classifier", cache, [{"answer": "I love it, thank you!"}, {"answer": "This is a terrible mess."}],
        (lambda value: value > 0.5, "> 0.5"), (lambda value: value < -0.5, "< -0.5"),
    )  # fmt: skip


def similarity(cache: Path) -> Checks:
    """A cross-encoder on a paraphrase and on another subject."""
    given = [
        {"answer": "A cat sat on the mat.", "expected_answers": ["The cat was sitting on a mat."]},
        {"answer": "A cat sat on the mat.", "expected_answers": ["Interest rates fell in March."]},
    ]
    return two(
        "answer_semantic_similarity", "classifier", cache, given, (lambda value: value > 0.7, "> 0.7"),
        (lambda value: value < 0.3, "< 0.3"), method="cross_encoder",
    )  # fmt: skip


def perplexity(cache: Path) -> Checks:
    """SmolLM2 on fluent and on scrambled text."""
    return two(
        "perplexity", "language_model", cache,
        [{"answer": "The cat sat on the mat and slept."}, {"answer": "mat the and slept on cat sat The"}],
        (lambda value: value < exp(4.5), "< 90"), (lambda value: value > exp(5.5), "> 245"),
    )  # fmt: skip


def bertscore(cache: Path) -> Checks:
    """Open RAG Eval's encoder and layer, rescaled, on two runs that say the same."""
    entry = evaluators()["consistency_bertscore"]
    encoder = provide(["token_encoder"], {"token_encoder": suggested(entry, "token_encoder")}, cache)["token_encoder"]
    parameters = entry.parameters.model_validate({"layer": 17, "baseline": 0.8525485})
    rows = [
        {"case_id": "1", "model": "m", "run": run, "answer": answer}
        for run, answer in enumerate(("The cat sat on the mat.", "A cat was sitting on the mat."), 1)
    ]
    suite = Suite.from_rows("s", "text", [{"case_id": "1"}])
    [found] = entry(suite, Outputs.from_rows(rows), parameters, token_encoder=encoder).aggregates
    return [("a paraphrase, rescaled", found.value, lambda value: 0.3 < value < 1, "between 0.3 and 1")]


def two(name: str, kind: str, cache: Path, given: list[dict[str, Any]], *tests: Any, **options: Any) -> Checks:
    """An evaluator's primary metric on two cases, with the model that its parameter suggests."""
    entry = evaluators()[name]
    resources = provide([kind], {kind: suggested(entry, kind)}, cache)
    scores = entry([Case.of(**case) for case in given], entry.parameters.model_validate(options), **resources)
    return [
        (str(next(iter(case.values()))), score.values[entry.primary.name], holds, expected)
        for case, score, (holds, expected) in zip(given, scores, tests, strict=True)
    ]


def suggested(entry: Any, kind: str) -> str:
    return str(entry.parameters.model_fields[kind].examples[0])


CHECKS: dict[str, Callable[[Path], Checks]] = {
    "hhem": hhem, "nli": nli, "toxicity": toxicity, "bias": bias, "similarity": similarity, "perplexity": perplexity,
    "bertscore": bertscore, "sentiment": sentiment,
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
