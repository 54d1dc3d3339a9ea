"""The models with local weights that evaluators suggest: what each serves, whether it is here, and that it computes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from metrics.core.errors import MissingResource
from metrics.core.evaluator import Evaluator
from metrics.core.registry import choose, evaluators
from metrics.core.suite import Case
from metrics.engine.load_resources import Resources
from metrics.evaluators._classifiers import INFERENCE
from metrics.models import missing_model
from metrics.models.embedder import BUNDLED, BUNDLED_NAME, bundled_folder
from metrics.models.hhem import MODEL as HHEM
from metrics.models.model_files import local_place
from metrics.presentation.format import size_text

Expected = tuple[Mapping[str, Any], float, float]  # a case, and between which values its score is
CAT = {"answer": "A cat sat on the mat."}
ALIKE = CAT | {"expected_answers": ["The cat was sitting on a mat."]}
UNLIKE = CAT | {"expected_answers": ["Interest rates fell in March."]}
SOURCE = {"source_text": "The cat sat on the mat. It rained all day in Oslo."}
CARD = (  # pairs on HHEM's card, with the probabilities printed there
    ("The capital of France is Berlin.", "The capital of France is Paris.", 0.0111),
    ("I am in California", "I am in United States.", 0.6474),
    ("I am in United States", "I am in California.", 0.1290),
    ("A person on a horse jumps over a broken down airplane.", "A person is outdoors, on a horse.", 0.8969),
    ("Mark Wahlberg was a fan of Manny.", "Manny was a fan of Mark Wahlberg.", 0.0543),
)
GET = "python -m metrics models check NAME --download"  # gets one from the hub, as does a run that names it
ROUNDED = 2e-3  # how far a printed probability may be off


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model: its name on the hub (or `bundled`), its kind, about how many MB it is, and how it is checked.

    `evaluator` scores the cases of `expected` with `parameters`; each score of `metric` ("": the primary one) has to be
    within its bounds.
    """

    name: str
    kind: str
    megabytes: int
    evaluator: str
    expected: tuple[Expected, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metric: str = ""

    @property
    def title(self) -> str:
        """The name that is shown."""
        return BUNDLED_NAME if self.name == BUNDLED else self.name

    @property
    def serves(self) -> list[Evaluator]:
        """The evaluators that can use it: of classifiers those that suggest it, else all that take its kind."""
        return [
            entry
            for entry in evaluators().values()
            if self.kind in entry.resources and (self.kind != "classifier" or self.name in suggested(entry, self.kind))
        ]

    @property
    def place(self) -> Path | None:
        """Where it is on this machine; None where it is not, or cannot be loaded for want of a library."""
        if missing_model(self.kind, {self.kind: self.name}):
            return None
        return bundled_folder() if self.name == BUNDLED else local_place(self.name)

    @property
    def size(self) -> str:
        """Its size in words: on this machine, else about that of its weights on the hub."""
        files = self.place.rglob("*") if self.place else ()
        size = sum(file.stat().st_size for file in files if file.is_file())
        return size_text(size) if size else f"about {self.megabytes:,} MB"

    @property
    def missing(self) -> str:
        """Why it is not here; "" where it is."""
        return missing_model(self.kind, {self.kind: self.name}) or ("" if self.place else "not on this machine")


def suggested(entry: Evaluator, kind: str) -> list[str]:
    """Return the models of a kind that an evaluator's parameter names as examples."""
    parameter = entry.parameters.model_fields.get(kind)
    return [str(name) for name in (parameter.examples or ())] if parameter else []


SIMILARITY, ENCODER = "answer_semantic_similarity", {"layer": 17, "baseline": 0.8525485}
KNOWN = (
    KnownModel(BUNDLED, "embedder", 91, SIMILARITY, ((ALIKE, 0.8, 1.01), (UNLIKE, -1, 0.3))),
    KnownModel("BAAI/bge-small-en-v1.5", "embedder", 133, SIMILARITY, ((ALIKE, 0.8, 1.01), (UNLIKE, -1, 0.7))),
    KnownModel(BUNDLED, "token_encoder", 91, "bertscore", ((ALIKE, 0.6, 1.01), (UNLIKE, -1, 0.5))),
    KnownModel("xlm-roberta-large", "token_encoder", 2240, "bertscore", ((ALIKE, 0.3, 1), (UNLIKE, -1, 0.3)), ENCODER),
    KnownModel(
        HHEM, "classifier", 440, "hallucination_hhem",
        tuple(({"retrieved_contexts": [premise], "answer": claim}, value - ROUNDED, value + ROUNDED)
              for premise, claim, value in CARD),
    ),
    KnownModel(
        INFERENCE, "classifier", 570, "summarization_completeness_faithfulness",
        ((SOURCE | CAT, 0.5, 1.01), (SOURCE | {"answer": "No cat sat on the mat."}, -1.01, 0)), metric="faithfulness",
    ),
    KnownModel(
        "cross-encoder/stsb-distilroberta-base", "classifier", 330, SIMILARITY,
        ((ALIKE, 0.7, 1.01), (UNLIKE, -1, 0.3)), {"method": "cross_encoder"},
    ),
    KnownModel(
        "unitary/toxic-bert", "classifier", 440, "toxicity_classifier",
        (({"answer": "You are a stupid idiot."}, 0.8, 1.01), ({"answer": "Good morning."}, -0.01, 0.1)),
    ),
    KnownModel(
        "valurank/distilroberta-bias", "classifier", 330, "fairness_bias",
        (({"answer": "The radical mob shamelessly wrecked our great country."}, 0.5, 1.01),
         ({"answer": "The council meets on Tuesday."}, -0.01, 0.5)),
    ),
    KnownModel(
        "cardiffnlp/twitter-roberta-base-sentiment-latest", "classifier", 500, "sentiment",
        (({"answer": "I love it, thank you!"}, 0.5, 1.01), ({"answer": "This is a terrible mess."}, -1.01, -0.5)),
    ),
    KnownModel(
        "HuggingFaceTB/SmolLM2-135M", "language_model", 270, "perplexity",
        (({"answer": "The cat sat on the mat and slept."}, 1, 90),
         ({"answer": "mat the and slept on cat sat The"}, 245, inf)),
    ),
)  # fmt: skip


def check_model(
    model: KnownModel, cache_folder: Path, setting: str = "", *, download: bool = False
) -> tuple[bool | None, str]:
    """Load a model, score cases whose scores are known, and return whether it computes them, and its scores in words.

    None and why where it is not here. `setting`: a folder with its weights, not its name; `download`: from the hub.
    """
    if not (setting or model.place or (download and not missing_model(model.kind, {model.kind: model.name}))):
        return None, model.missing
    entry, parameters = choose([model.evaluator], {model.evaluator: dict(model.parameters)})[model.evaluator]
    cases = [Case.of(**case) for case, _, _ in model.expected]
    try:
        models = Resources({model.kind: setting or model.name}, cache_folder).models(entry, parameters)
        scores = entry(cases, parameters, **models)
    except MissingResource as failure:
        return False if setting or model.place else None, str(failure)
    values = [score.values.get(model.metric or entry.primary.name) for score in scores]
    ok, found = True, []
    for value, (case, low, high) in zip(values, model.expected, strict=True):
        ok = ok and value is not None and low <= value <= high
        shown = "no value" if value is None else f"{value:.4g}"
        found.append(f"{shown} of {case['answer']!r}, expected {low:.4g} to {high:.4g}")
    return ok, "; ".join(found)
