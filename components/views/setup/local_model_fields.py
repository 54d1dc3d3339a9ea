"""The choice of local models for a run: an embedder, a classifier, a language model …"""

from collections.abc import Iterable, Mapping
from typing import Any

from components.widgets import url
from components.widgets.controls import agreed

TITLES = {
    "embedder": ("Embedding model", "Compares texts by meaning."),
    "token_encoder": ("Token encoder", "Compares texts token by token, for BERTScore."),
    "classifier": ("Classifier", "Judges texts or pairs of texts: hallucination, inference, toxicity, bias."),
    "language_model": ("Language model", "Tells how likely a text is, for perplexity and GPTScore."),
}
HINT = (
    "A folder with its safetensors, or the name of a model on the hub, which is downloaded when the run starts. "
    "An evaluator's own parameter goes before this."
)


def needed(offered: Iterable[Mapping[str, Any]], catalogue: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the kinds of model that some of these evaluators can use, in the order of TITLES."""
    used: set[str] = set()
    for offer in offered:
        entry = catalogue[offer["id"]]
        used |= {*entry["resources"], *entry["schema"].get("properties", {})}
    return [name for name in TITLES if name in used]


def draw_models(names: Iterable[str], kinds: Mapping[str, str]) -> dict[str, str]:
    """Return a text field for each kind of model, which the address keeps under its name; the models chosen, by kind.

    `kinds` has the setting of each kind where none is chosen.
    """
    import streamlit as st

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
                help=f"{does} {HINT}", placeholder=kinds[name] or "none: what needs it is skipped",
            )  # fmt: skip
    return chosen


def _write(name: str, key: str) -> None:
    import streamlit as st

    url.put(**{name: (st.session_state[key] or "").strip()})
