"""Cross-encoders and text classifiers: logits of texts or pairs of texts, each distinct one computed only once."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from metrics.core.array_types import Bools, Floats
from metrics.core.errors import MissingResource
from metrics.models.batches import Features, Tokenizer, by_length, padded
from metrics.models.model_cache import CachedModel, Rows
from metrics.models.model_files import load
from metrics.models.vectors import Text

KIND = "classifier"
FOLDER = "one with a classifier: config.json, its tokenizer and model.safetensors"
MULTI_LABEL = "multi_label_classification"
PORTION = 1_024  # texts in memory at once


@dataclass(frozen=True, slots=True)
class Classified:
    """The logits [n, labels] of n texts or pairs, and which of them the model read only in part [n]."""

    logits: Floats
    truncated: Bools


class Classifier(CachedModel):
    """A sequence-classification model of transformers."""

    rows = "logits"
    version = "1"
    portion = 64

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the model's configuration, in the order of the logits."""
        named = self._config.get("id2label") or {}
        count = len(named) or self._config.get("num_labels") or 2
        return tuple(str(named.get(str(place), f"LABEL_{place}")) for place in range(count))

    @property
    def independent(self) -> bool:
        """Whether each label has its own probability: by the configuration, or because there is only one label."""
        return len(self.labels) == 1 or self._config.get("problem_type") == MULTI_LABEL

    def classify(self, texts: Sequence[str | tuple[str, str]]) -> Classified:
        """Return the logits of texts or pairs of texts, in their order.

        Computed in batches of similar length and stored, so that no process computes a text again. A text or pair
        longer than the model's window is cut: of a pair, the longer side first.
        """
        stored = self._stored(texts)
        logits = [entry.vector for entry in stored]
        return Classified(
            np.array(logits, np.float64).reshape(len(texts), len(self.labels)),
            np.array([entry.truncated for entry in stored], bool),
        )

    @cached_property
    def _config(self) -> dict[str, Any]:
        return read_config(self._place)

    @cached_property
    def _loaded(self) -> tuple[Any, Tokenizer]:
        model, tokenizer = load(KIND, self._place, "AutoModelForSequenceClassification")
        if model.config.pad_token_id is None:  # a decoder finds the last token of a text by the padding
            model.config.pad_token_id = tokenizer.pad_token_id or tokenizer.eos_token_id or 0
        return model, Tokenizer(tokenizer, model.config)

    def _rows(self, texts: Sequence[Text]) -> tuple[Rows, list[bool]]:
        import torch

        encoded = [self._encoded(text) for text in texts]
        logits = np.zeros((len(texts), len(self.labels)), np.float32)
        for batch in by_length([len(features["input_ids"]) for features, _ in encoded]):
            with torch.inference_mode():
                logits[batch] = self._logits([encoded[place][0] for place in batch]).cpu().numpy()
        return logits, [cut for _, cut in encoded]

    def _encoded(self, text: Text) -> tuple[Features, bool]:
        """Return the features of a text or pair, and whether it was cut to the model's window."""
        _, tokenizer = self._loaded
        return tokenizer.encode(*((text,) if isinstance(text, str) else text))

    def _logits(self, batch: Sequence[Features]) -> Any:
        model, _ = self._loaded
        return model(**padded(batch, model.config.pad_token_id, model.device)).logits


SUPPORTING = ("consistent", "supported", "entailment")  # names of the label of support in models of inference


def read_config(folder: Path) -> dict[str, Any]:
    """Return a model's config.json. Raises MissingResource where there is none."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        config = None
    if not isinstance(config, dict):
        raise MissingResource(f"{folder} has no config.json that can be read; name {FOLDER}")
    return config


def classify_groups(classifier: Classifier, groups: Iterable[Sequence[str | tuple[str, str]]]) -> Iterator[Classified]:
    """Yield the logits of each group of texts, in order; none of an empty group.

    Texts of many groups are computed together, PORTION at a time, so memory does not grow with the number of groups.
    """
    waiting: list[Sequence[str | tuple[str, str]]] = []
    for group in groups:
        waiting.append(group)
        if sum(map(len, waiting)) >= PORTION:
            yield from _grouped(classifier, waiting)
            waiting = []
    yield from _grouped(classifier, waiting)


def _grouped(classifier: Classifier, groups: Sequence[Sequence[str | tuple[str, str]]]) -> Iterator[Classified]:
    texts = [text for group in groups for text in group]
    if not texts:  # the model is not needed
        yield from (Classified(np.zeros((0, len(classifier.labels))), np.zeros(0, bool)) for _ in groups)
        return
    made, start = classifier.classify(texts), 0
    for group in groups:
        part = slice(start, start + len(group))
        yield Classified(made.logits[part], made.truncated[part])
        start += len(group)


def probabilities(classifier: Classifier, logits: Floats, independent: bool | None = None) -> Floats:
    """Return the probability of each label [n, labels]: 1/(1+e^−z) where they are independent, else softmax.

    `independent` overrides the model's configuration.
    """
    if classifier.independent if independent is None else independent:
        positive = 1 / (1 + np.exp(-np.abs(logits)))
        return np.where(logits >= 0, positive, 1 - positive)
    raised = np.exp(logits - logits.max(axis=1, keepdims=True)) if len(logits) else logits
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def find_label(labels: Sequence[str], *names: str) -> int | None:
    """Return the index of the first label named like one of `names`, ignoring case and punctuation; None without."""
    plain = [_plain(label) for label in labels]
    return next((plain.index(_plain(name)) for name in names if _plain(name) in plain), None)


def require_label(classifier: Classifier, what: str, *names: str) -> int:
    """Return the index of a label named like one of `names`. Raises MissingResource naming the model's labels."""
    place = find_label(classifier.labels, *names)
    if place is None:
        raise MissingResource(
            f"{classifier.name} has the labels {', '.join(classifier.labels[:8])}; {what} needs one called "
            f"{' or '.join(names)}: choose a model that has it"
        )
    return place


def _plain(label: str) -> str:
    return "".join(character for character in label.casefold() if character.isalnum())


def provenance(classifier: Classifier, truncated: Bools) -> dict[str, Any]:
    """Return the facts stored with a classifier's score: model, sha256 of its weights, texts read in part, if any."""
    facts: dict[str, Any] = {"model": classifier.name, "weights_sha256": classifier.weights}
    if truncated.any():
        facts["texts_read_in_part"] = int(truncated.sum())
    return facts
