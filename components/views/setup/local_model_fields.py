"""The choice of local models for a run: embedder, classifier, language model …"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import streamlit as st

from components.widgets import url
from components.widgets.controls import agreed

if TYPE_CHECKING:
    from metrics.core.evaluator import Evaluator

TITLES = {
    "embedder": ("Embedding model", "Compares texts by meaning."),
    "token_encoder": ("Token encoder", "Compares texts token by token, for BERTScore."),
    "classifier": ("Classifier", "Classifies texts or pairs of texts: hallucination, inference, toxicity, bias."),
    "language_model": ("Language model", "Computes how likely a text is, for perplexity and GPTScore."),
}
HINT = (
    "A folder with safetensors, or the name of a model on the hub, which is downloaded when the run starts. "
    "A parameter of an evaluator overrides this."
)


def needed(entries: Iterable[Evaluator]) -> list[str]:
    """Return the kinds of model that some of these evaluators can use, in the order of TITLES."""
    used: set[str] = set()
    for entry in entries:
        used |= {*entry.needs, *entry.parameters.model_fields}
    return [name for name in TITLES if name in used]


def draw_models(names: Iterable[str], kinds: Mapping[str, str]) -> dict[str, str]:
    """Draw a text field for each kind of model, kept in the address under its name; return the models chosen, by kind.

    `kinds` has the default of each kind.
    """
    names = [name for name in names if name in kinds]
    chosen = {name: value for name in names if (value := (url.param(name) or "").strip())}
    if not names:
        return {}
    own = ", ".join(f"{TITLES[name][0].lower()}" for name in chosen)
    with st.expander(f"Local models: {own} chosen" if own else "Local models", icon=":material/memory:"):
        for place, name in enumerate(names):
            title, does = TITLES[name]
            if place % 2 == 0:
                columns = st.columns(2)
            key = f"model-{name}"
            columns[place % 2].text_input(
                title, agreed(key, chosen.get(name, "")), key=key, on_change=_write, args=(name, key),
                help=f"{does} {HINT}", placeholder=kinds[name] or "none: evaluators that need it are skipped",
            )  # fmt: skip
    return chosen


def _write(name: str, key: str) -> None:
    url.put(**{name: (st.session_state[key] or "").strip()})
