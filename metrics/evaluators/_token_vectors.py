"""What evaluators that compare texts by their tokens' vectors share: BERTScore's parameters, and what a model reads."""

from typing import Self

from pydantic import Field, model_validator

from metrics.core.evaluator import Parameters
from metrics.models.token_encoder import TokenEncoder, Tokens
from metrics.text.overlap.similarity import BASELINES

MOST_UNKNOWN = 0.5  # of a text's tokens: unknown ones are all alike to the model, and so would any two texts be


class BertscoreParameters(Parameters):
    """Which model, which of its layers, and the baseline of its scores."""

    token_encoder: str = Field(
        "",
        description="Encoder: a local folder or the name of a model on the hub, which is downloaded (Open RAG Eval's "
        "is xlm-roberta-large); empty: the run's, which is the bundled all-MiniLM-L6-v2 unless chosen.",
        examples=["xlm-roberta-large"],
    )
    layer: int | None = Field(
        None, ge=0, description="Layer whose states are compared; empty: the last. 17 for xlm-roberta-large."
    )
    baseline: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="F1 of random pairs of texts, which becomes 0; empty: not rescaled. English texts with "
        "xlm-roberta-large, layer 17: 0.8525485.",
    )
    rescale_with_baseline: bool = Field(
        False,
        description="Rescale by the published baseline of the encoder, its layer and the language; one that has none "
        "is rescaled by the value of baseline.",
    )
    lang: str = Field("en", description="Language of the answers, for which the published baseline was measured.")

    @model_validator(mode="after")
    def _has_baseline(self) -> Self:
        if self.rescale_with_baseline and self.subtracted is None:
            known = "; ".join(f"token_encoder {name}, layer {layer}, lang {lang}" for name, layer, lang in BASELINES)
            raise ValueError(f"a value of baseline, as a published one is known only for {known}")
        return self

    @property
    def subtracted(self) -> float | None:
        """The baseline in force; None: not rescaled."""
        known = BASELINES.get((self.token_encoder, self.layer, self.lang)) if self.rescale_with_baseline else None
        return known if self.baseline is None else self.baseline


def is_known(tokens: Tokens) -> bool:
    """Return whether the model reads the text: it has tokens, and at least half of them are in the vocabulary."""
    return bool(tokens.weights.sum()) and tokens.unknown <= MOST_UNKNOWN


def unknown_script(model: TokenEncoder, texts: str) -> str:
    """Return why `texts` cannot be compared: the model does not know their script."""
    return (
        f"{model.name} knows the script of {texts}: too many of their tokens are not in its vocabulary. Choose another "
        "token_encoder, such as xlm-roberta-large"
    )
