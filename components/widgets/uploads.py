"""The uploader: what is chosen is stored at once, and named in the address."""

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from components.data import uploaded_files
from components.widgets import url
from metrics.presentation.format import size_text


def draw_uploads(
    label: str, name: str, allowed: Iterable[str], many: bool = False, hint: str | None = None,
    another: str = "Add more files", listed: bool = True,
) -> list[str]:  # fmt: skip
    """Draw an uploader that stores files at once and keeps their names (ours) in the address; return these names.

    Stored files are listed with a button to remove them, unless the page lists them itself; the uploader is drawn while
    another file fits.
    """
    folder = uploaded_files.upload_folder()
    kinds = list(allowed)
    tokens = [token for token in dict.fromkeys(url.params(name)) if uploaded_files.path_of(token, folder) is not None]
    tokens = tokens if many else tokens[:1]  # an address may name more
    if listed or not tokens:
        st.text(label, help=hint)
    for token in tokens if listed else ():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            size = (folder / token).stat().st_size
            st.text(f"✓ {uploaded_files.name_of(token, folder)} · {size_text(size)}", width="stretch")
            if st.button("Remove", key=f"remove-{name}-{token}", type="tertiary", icon=":material/close:"):
                url.put(**{name: [kept for kept in tokens if kept != token]})
                st.rerun()
    if tokens and not many:
        return tokens
    key = f"upload-{name}-{st.session_state.get('uploads', 0)}"
    place = st.expander(another) if tokens and listed else st.container()
    place.file_uploader(
        label, kinds, accept_multiple_files=many, key=key, label_visibility="collapsed", on_change=_receive,
        args=(key, name, tokens, kinds),
    )  # fmt: skip
    return tokens


def _receive(key: str, name: str, tokens: list[str], kinds: list[str]) -> None:
    given = st.session_state[key]
    kept = list(tokens)
    for file in given if isinstance(given, list) else [given] if given is not None else []:
        try:
            kept.append(uploaded_files.receive(file, file.name, kinds))
        except ValueError as failure:
            st.session_state.setdefault("refused", []).append(str(failure))
    st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1  # an empty uploader for the next file
    url.put(**{name: list(dict.fromkeys(kept))})


def draw_import(
    label: str, name: str, kinds: Sequence[str], take: Callable[[str, bytes], None], most: int | None = None,
    help: str | None = None,
) -> None:  # fmt: skip
    """Draw an uploader that hands its file to `take`, by its name and content, and is empty for the next one.

    most: megabytes of the file.
    """
    key = f"{name}-import-{st.session_state.get(f'{name}-imports', 0)}"
    st.file_uploader(label, kinds, max_upload_size=most, key=key, on_change=_hand_on, args=(key, name, take), help=help)


def _hand_on(key: str, name: str, take: Callable[[str, bytes], None]) -> None:
    if (given := st.session_state[key]) is not None:
        take(given.name, given.getvalue())
        st.session_state[f"{name}-imports"] = st.session_state.get(f"{name}-imports", 0) + 1


def draw_refused() -> None:
    """Draw why the files just uploaded were refused."""
    for message in st.session_state.pop("refused", []):
        with st.container(border=True):
            st.text(f"✗ Not stored: {message}")
