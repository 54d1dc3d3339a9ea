"""Models on this machine: the files and servers that can judge, each with a button that opens the form with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit as st

from components.data import judge_settings, model_needs
from components.views.judge.judge_form import LOCAL, way_of
from components.widgets import url
from metrics.presentation.format import size_text

if TYPE_CHECKING:
    from components.data import GgufFile, ModelServer

OFFER = "judge-offer"  # in the session: how many models were chosen here, and the settings of the last
SERVERS = "judge-servers"  # in the session: the servers that answered; absent before they were looked for
SHOWN = 20
WIDTHS = (6, 2, 2, 1.4)
NOT_FOUND = (
    "No GGUF file found. Put one into the folder models of this workspace, or get one with Ollama, LM Studio, "
    "llama.cpp or Hugging Face, and open this page again."
)
CHOOSING = (
    "Another one is chosen for a run on New evaluation, under Local models: a folder, or a name on the Hugging Face "
    "hub, from which it is downloaded once."
)
LIST = "python -m metrics judge list"


def offered() -> tuple[int, Mapping[str, str] | None]:
    """Return the settings of the model chosen here (None: none), and a number that grows with each choice."""
    number, setting = st.session_state.get(OFFER, (0, None))
    return number, setting


def forget() -> None:
    """Forget the model chosen here: the form shows the judge of the workspace again."""
    st.session_state[OFFER] = (offered()[0] + 1, None)


KINDS = {  # title, what it does
    "embedder": ("Embedding model", "Compares texts by meaning."),
    "token_encoder": ("Token encoder", "Compares texts token by token, for BERTScore."),
    "classifier": ("Classifier", "Tells what a text is: unsupported, toxic, biased …"),
    "language_model": ("Language model", "Computes how likely a text is."),
}


def draw_known() -> None:
    """Draw each model that evaluators suggest, by kind: size, whether it is here or how to get it, whom it serves."""
    with st.container(border=True, gap="small"):
        st.subheader("Models that evaluators use", anchor=False)
        st.text(CHOOSING)
        known, command = model_needs.known_models()
        for kind, (title, does) in KINDS.items():
            own = [model for model in known if model.kind == kind]
            alike = len({model.serves for model in own}) == 1
            st.markdown(f"**{title}**", help=does)
            if alike:
                st.text(f"For {', '.join(own[0].serves)}")
            for model in own:
                left, middle, right = st.columns((5, 3, 4))
                left.text(f"{model.title}, {model.size}")
                middle.text(f"– {model.missing}" if model.missing else "✓ here")
                right.text("" if alike else f"For {', '.join(model.serves)}")
        st.text(f"{command} gets one from the hub and checks its scores of a few texts")


def draw(files: Sequence[GgufFile]) -> None:
    """Draw the models that evaluators use; the files that can judge, and the servers once they were looked for."""
    draw_known()
    with st.container(border=True, gap="small"):
        st.subheader("Models that can judge", anchor=False)
        searched = "\n".join(f"- `{folder}`" for folder in map(_shown, judge_settings.searched_folders()))
        st.text("Files", help=f"GGUF files of models that can chat, found in:\n{searched}")
        name, size, missing = judge_settings.local_judge()
        _row("built-in", (f"Built-in: {name}", size_text(size), "Assay"), {"model": LOCAL}, None, missing)
        for place, one in enumerate(files[:SHOWN]):
            texts = (one.name, size_text(one.size), one.place)
            _row(f"file-{place}", texts, {"model": one.model}, f"`{_shown(one.file)}`")
        if len(files) > SHOWN:
            st.text(f"and {len(files) - SHOWN} more: {LIST} shows them all")
        if not files:
            st.text(NOT_FOUND)
        st.text("Servers", help="Ollama, llama.cpp, LM Studio and vLLM at their usual ports of 127.0.0.1.")
        if st.button(
            "Look for servers",
            icon=":material/search:",
            help="Asks the usual ports of this machine for their models. Nothing leaves this machine, no key is sent.",
        ):
            with st.spinner("Asking the usual ports"):
                st.session_state[SERVERS] = judge_settings.running_servers()
        if SERVERS in st.session_state:
            _draw_servers(st.session_state[SERVERS])


def _draw_servers(servers: Sequence[ModelServer]) -> None:
    if not servers:
        st.text("No server answers on the usual ports. Start one, or enter its address on Judge, “Your own server”.")
    for server in servers:
        if server.locked:
            st.text(
                f"{server.name} at {server.base_url} asks for a key: set OPENAI_API_KEY and enter its model on Judge."
            )
        elif not server.models:
            st.text(f"{server.name} at {server.base_url} has no model that can chat; load one and look again.")
        for place, model in enumerate(server.models):
            texts = (model, urlsplit(server.base_url).netloc, server.name)
            setting = {"model": model, "base_url": server.base_url}
            _row(f"{server.name}-{place}", texts, setting, f"`{server.base_url}`")


def _row(
    key: str, texts: tuple[str, str, str], setting: Mapping[str, str], where: str | None, missing: str = ""
) -> None:
    """Draw a model with its size or address, and whose it is; the button fills in the form with `setting`.

    missing: why it is not here and how to get it, in place of the button.
    """
    *columns, last = st.columns(WIDTHS, vertical_alignment="center")
    for column, text, hint in zip(columns, texts, (where, None, None), strict=True):
        column.text(text, help=hint)
    if missing:
        st.text(f"– {missing}")
    elif last.button("Use", key=f"judge-use-{key}", help="Opens the form with it, to test and save.", width="stretch"):
        st.session_state[OFFER] = (offered()[0] + 1, setting)
        url.go("judge", way=way_of(setting))


def _shown(path: object) -> str:
    """Return a path for a hint, which is Markdown: as code, without what would end it."""
    return str(path).replace("`", "'")
