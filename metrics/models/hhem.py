"""HHEM 2.1, Vectara's hallucination model, without the code of its repository; and opening any classifier."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from metrics.core.errors import MissingResource, describe_failure
from metrics.models.batches import Features, Tokenizer, padded
from metrics.models.classifier import FOLDER, KIND, Classifier, read_config
from metrics.models.model_files import device, hub_folder, model_folder, no_folder, no_library, settle_torch
from metrics.models.vectors import Text

MODEL = "vectara/hallucination_evaluation_model"
ARCHITECTURE = "HHEMv2"  # the beginning of the architecture's name in its configuration
FOUNDATION = "google/flan-t5-base"  # whose configuration and tokenizer it uses
FOUNDATION_FILES = ("config.json", "tokenizer*", "special_tokens_map.json", "spiece.model")
PROMPT = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {premise}\n\nHypothesis: {claim}"
WINDOW = 2_048  # tokens; the model has no limit, memory does
LABELS = ("hallucinated", "consistent")
STATES = "t5.transformer."  # prefix of the encoder's weights
HEAD = "t5.classifier."


def is_hhem(config: Mapping[str, Any]) -> bool:
    """Return whether a config.json is HHEM's."""
    return str((config.get("architectures") or [""])[0]).startswith(ARCHITECTURE)


class HallucinationClassifier(Classifier):
    """The encoder of a T5 with a linear layer of two logits on its first token.

    Premise and claim are inserted into PROMPT, which begins with the padding token; softmax over the logits of that
    token gives the probability of the label `consistent`. Five pairs on the model's card are reproduced: see
    metrics/library/known_models.py. Configuration and tokenizer are flan-t5-base's: in a folder `flan-t5-base` beside
    the weights, or from the hub where the model itself was chosen by its hub name.
    """

    def __init__(self, folder: Path, name: str, cache_folder: Path, from_hub: bool):
        super().__init__(folder, name, cache_folder)
        self._foundation = folder / FOUNDATION.rpartition("/")[2]
        if not self._foundation.is_dir():
            if not from_hub:
                raise MissingResource(
                    f"HHEM takes its configuration and tokenizer from {FOUNDATION}: put {', '.join(FOUNDATION_FILES)} "
                    f"of it into {self._foundation}"
                )
            self._foundation = hub_folder(FOUNDATION, "foundation of HHEM", files=FOUNDATION_FILES)

    @property
    def labels(self) -> tuple[str, ...]:
        """The two labels, in the order of the logits."""
        return LABELS

    @property
    def independent(self) -> bool:
        """Return False: the probabilities of the two labels sum to 1, so they are not independent."""
        return False

    @cached_property
    def _loaded(self) -> tuple[Any, Tokenizer]:
        """The encoder and head, and the tokenizer. Raises MissingResource where the weights do not fit."""
        settle_torch()
        import torch
        import transformers
        from safetensors.torch import load_file

        try:
            config = transformers.AutoConfig.from_pretrained(str(self._foundation), local_files_only=True)
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(self._foundation), local_files_only=True)
            weights = load_file(self._place / "model.safetensors")
            encoder = transformers.T5EncoderModel(config)
            own = {name.removeprefix(STATES): values for name, values in weights.items() if name.startswith(STATES)}
            absent, unknown = encoder.load_state_dict(own, strict=False)
            # the encoder uses the shared token embeddings
            odd = [*unknown, *(name for name in absent if name != "encoder.embed_tokens.weight")]
            if odd:
                raise ValueError(f"weights that do not fit the foundation: {', '.join(odd[:4])}")
            head = torch.nn.Linear(config.d_model, len(LABELS))
            head.load_state_dict({part: weights[HEAD + part] for part in ("weight", "bias")})
        except Exception as failure:
            raise MissingResource(
                f"the {KIND} in {self._place} cannot be loaded ({describe_failure(failure)}); choose another"
            ) from failure
        found = Tokenizer(tokenizer, config)
        found.window = WINDOW
        encoder.to(device()).eval()
        return (encoder, head.to(device())), found

    def _encoded(self, text: Text) -> tuple[Features, bool]:
        _, tokenizer = self._loaded
        return prompted(tokenizer, text[0], text[1])

    def _logits(self, batch: Sequence[Features]) -> Any:
        (encoder, head), _ = self._loaded
        return head(encoder(**padded(batch, device=encoder.device)).last_hidden_state[:, 0])


def prompted(tokenizer: Tokenizer, premise: str, claim: str) -> tuple[Features, bool]:
    """Return the prompt's tokens, and whether the premise was cut at its end to fit the window.

    A claim longer than the window is cut too.
    """
    premise, claim = tokenizer.plain(premise), tokenizer.plain(claim)
    features = _features(tokenizer, premise, claim)
    excess = len(features["input_ids"]) - tokenizer.window
    if excess <= 0:
        return features, False
    pieces = tokenizer.own(premise, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    kept = len(pieces["input_ids"]) - excess - 2  # at the cut a token can become two
    features = _features(tokenizer, premise[: pieces["offset_mapping"][kept][0]] if kept > 0 else "", claim)
    return {name: row[: tokenizer.window] for name, row in features.items()}, True


def _features(tokenizer: Tokenizer, premise: str, claim: str) -> Features:
    found = tokenizer.own(PROMPT.format(premise=premise, claim=claim), verbose=False)
    return {name: found[name] for name in ("input_ids", "attention_mask")}


def open_classifier(setting: str, cache_folder: Path) -> Classifier:
    """Return the classifier that `setting` names: a local folder, or the name of a model on the hub.

    Raises MissingResource where there is none.
    """
    folder, name = model_folder(setting, KIND, missing_classifier(setting))
    if is_hhem(read_config(folder)):
        return HallucinationClassifier(folder, name, cache_folder, from_hub=folder != Path(setting).expanduser())
    return Classifier(folder, name, cache_folder)


def missing_classifier(setting: str) -> str | None:
    """Return why the classifier of this setting is not available; None where it is. Nothing is loaded."""
    return no_library(KIND) or no_folder(setting, f"{FOLDER}, or a model of the hub")
