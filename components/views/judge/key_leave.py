"""The question whether a key may be sent to an address that was typed into a page."""

from collections.abc import Iterable
from urllib.parse import urlsplit

import streamlit as st

from components.data import judge_settings, visitors
from components.widgets.literal import literal

HELP = "Until this studio ends. A server that needs no key needs none of this. At the start: ASSAY_TARGET_KEYS={}@{}"


def draw(kept_back: Iterable[tuple[str, str]]) -> None:
    """Draw, for each variable and address that its key is not sent to, that it is not, and a button to allow it."""
    for name, address in kept_back:
        host = str(urlsplit(address).hostname)
        st.text(f"– {name} is not sent to {host}." + ("" if visitors.may("admin") else " Ask who runs this studio."))
        if visitors.may("admin"):
            st.button(
                f"Send {name} to {literal(host)}", icon=":material/key:", key=f"leave-{name}-{host}",
                help=literal(HELP.format(name, host)), on_click=judge_settings.let_key_go, args=(name, address),
            )  # fmt: skip
