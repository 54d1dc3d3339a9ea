"""Uploads, which may be hostile: kept in our folder, under our names, bounded; the user's name is only ever shown."""

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

TABLES = ("csv", "tsv", "jsonl", "ndjson", "json", "parquet", "zip")
ARCHIVES = ("zip",)
MOST_BYTES = 2 << 30  # of one file, as server.maxUploadSize in .streamlit/config.toml
TOKEN = re.compile(r"[0-9a-f]{32}\.[a-z]{2,7}")
CHUNK = 1 << 20


def suffix(filename: str, allowed: Iterable[str]) -> str:
    """Return the file's kind by the end of its name; ValueError with what is allowed where it is none of those."""
    kinds = tuple(allowed)
    found = filename.rpartition(".")[2].lower() if "." in filename else ""
    if found not in kinds:
        raise ValueError(
            f"{shown_name(filename)} ends in {found[:12] or 'nothing'!r}; a file ends in one of {', '.join(kinds)}"
        )
    return found


def keep(stream: BinaryIO, filename: str, folder: Path, allowed: Iterable[str] = TABLES, most: int = MOST_BYTES) -> str:
    """Store an upload under a name made of its content and give that name; equal files are stored once.

    ValueError where the kind is not allowed, the file is empty or larger than `most` bytes.
    """
    kind = suffix(filename, allowed)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest, size = hashlib.sha256(), 0
    part = folder / f".part-{os.getpid()}-{os.urandom(6).hex()}"
    try:
        with part.open("xb") as target:
            while chunk := stream.read(CHUNK):
                size += len(chunk)
                if size > most:
                    raise ValueError(f"{shown_name(filename)} is larger than {most / (1 << 20):,.0f} MiB")
                digest.update(chunk)
                target.write(chunk)
        if not size:
            raise ValueError(f"{shown_name(filename)} is empty")
        digest.update(shown_name(filename).encode())  # two names of one content are two uploads: the name is the model
        token = f"{digest.hexdigest()[:32]}.{kind}"
        (folder / f"{token}.name").write_text(json.dumps(shown_name(filename)), encoding="utf-8")
        part.replace(folder / token)
    finally:
        part.unlink(missing_ok=True)
    return token


def path_of(token: str, folder: Path) -> Path | None:
    """Return the stored file of a name that `keep` gave; None for any other name or a file that is gone."""
    if not TOKEN.fullmatch(token):
        return None
    path = folder / token
    return path if path.is_file() else None


def name_of(token: str, folder: Path) -> str:
    """Return the name under which the user uploaded the file; ours where that is not known."""
    path = folder / f"{token}.name"
    if not TOKEN.fullmatch(token) or not path.is_file():
        return token
    return str(json.loads(path.read_text(encoding="utf-8")))


def shown_name(filename: str) -> str:
    """Return a file name fit to be shown: no folders, no control characters, at most 120 characters, its ending kept."""
    base = filename.replace("\\", "/").rpartition("/")[2]
    clean = "".join(character for character in base if character.isprintable()).strip() or "upload"
    if len(clean) <= 120:
        return clean
    stem, _, kind = clean.rpartition(".")
    return f"{stem[:100]}….{kind[:12]}"


def model_name(filename: str) -> str:
    """Return the model that a file of outputs is of: its name without ending, `outputs_` and the like."""
    stem = shown_name(filename).rpartition(".")[0] or shown_name(filename)
    return re.sub(r"^(outputs?|answers|results|predictions|detections)[-_ .]+", "", stem, flags=re.IGNORECASE) or stem


def draw_uploads(
    label: str, name: str, folder: Path, allowed: Iterable[str], many: bool = False, hint: str | None = None
) -> list[str]:
    """Return an uploader whose files are kept at once and named in the address under `name`; the names (ours) of those
    kept.

    Kept files are listed with a button that lets go of them; the uploader is there while another file fits.
    """
    import streamlit as st

    from components.widgets import url

    kinds = list(allowed)
    tokens = [token for token in url.params(name) if path_of(token, folder) is not None]
    st.text(label, help=hint)
    for token in tokens:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            size = (folder / token).stat().st_size
            st.text(f"✓ {name_of(token, folder)} · {size_text(size)}", width="stretch")
            if st.button("Remove", key=f"remove-{name}-{token}", type="tertiary", icon=":material/close:"):
                url.put(**{name: [kept for kept in tokens if kept != token]})
                st.rerun()
    if tokens and not many:
        return tokens
    key = f"upload-{name}-{st.session_state.get('uploads', 0)}"
    place = st.expander("Add a file of another model") if tokens else st.container()
    place.file_uploader(
        label, kinds, accept_multiple_files=many, key=key, label_visibility="collapsed", on_change=_receive,
        args=(key, name, tokens, folder, kinds),
    )  # fmt: skip
    return tokens


def _receive(key: str, name: str, tokens: list[str], folder: Path, kinds: list[str]) -> None:
    import streamlit as st

    from components.widgets import url

    given = st.session_state[key]
    kept = list(tokens)
    for file in given if isinstance(given, list) else [given] if given is not None else []:
        try:
            kept.append(keep(file, file.name, folder, kinds))
        except ValueError as failure:
            st.session_state.setdefault("refused", []).append(str(failure))
    st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1  # an empty uploader for the next file
    url.put(**{name: list(dict.fromkeys(kept))})


def draw_refused() -> None:
    """What was wrong with the files that were not kept."""
    import streamlit as st

    for message in st.session_state.pop("refused", []):
        with st.container(border=True):
            st.text(f"✗ Not kept: {message}")


def size_text(size: int) -> str:
    """Return a number of bytes as `12 kB`, `3.4 MB`."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1e3:,.0f} kB" if size < 1e6 else f"{size / 1e6:,.1f} MB"
