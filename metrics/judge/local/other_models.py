"""Other models on this machine: GGUF files of the user, and servers whose usual ports are asked, on request only.

Nothing is loaded and nothing is asked over the network: folders are listed, and the beginning of each file is read.
"""

import asyncio
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrics.core.errors import MissingResource
from metrics.core.installation import missing_extra
from metrics.judge.completion import CallFailed
from metrics.judge.exchange import exchange
from metrics.judge.keys import redact
from metrics.judge.local.install import LOCAL, PART, folder, parts_of, path
from metrics.judge.wire import decoded

if TYPE_CHECKING:
    import aiohttp

MAGIC = b"GGUF"
HEAD = 4096  # bytes that are read of a file
DEEPEST = 6  # folders below a place
MOST_ENTRIES = 20_000  # of a place's folders that are looked at
MOST_MODELS = 200
LARGEST_MANIFEST = 1 << 20  # bytes
ARCHITECTURE = b"general.architecture"
NO_CHAT = re.compile(r"mmproj|embed|rerank|vocab|\bclip\b", re.IGNORECASE)  # in the names of files that cannot answer
NO_CHAT_KINDS = re.compile(r"bert|clip|t5encoder|embedding|wavtokenizer")  # in architectures
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
OLLAMA_MODEL = "application/vnd.ollama.image.model"
OLLAMA_SERVICE = Path("/usr/share/ollama/.ollama/models")  # where its service on Linux stores them
OLLAMA_HUB = ("registry.ollama.ai", "library")  # not part of a model's name


@dataclass(frozen=True, slots=True)
class GgufFile:
    """A model of the user: its name, its GGUF file (of several parts the first), bytes of all parts, whose folder."""

    name: str
    file: Path
    size: int
    place: str

    @property
    def model(self) -> str:
        """The name of the judge that it can be."""
        return f"{LOCAL}:{self.file}"


def model_folders(workspace: Path) -> list[tuple[str, Path]]:
    """Return the folders that are searched, by whose they are; of Ollama the one that contains manifests and blobs."""
    home = Path.home()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    hugging_face = Path(os.environ.get("HF_HOME") or cache / "huggingface")
    ollama = os.environ.get("OLLAMA_MODELS")
    return [
        ("workspace", workspace.absolute() / "models"),
        ("Assay", folder()),
        ("llama.cpp", Path(os.environ.get("LLAMA_CACHE") or cache / "llama.cpp")),
        ("LM Studio", home / ".lmstudio" / "models"),
        ("LM Studio", home / ".cache" / "lm-studio" / "models"),
        ("Hugging Face", Path(os.environ.get("HF_HUB_CACHE") or hugging_face / "hub")),
        ("Ollama", Path(ollama) if ollama else home / ".ollama" / "models"),
        ("Ollama", OLLAMA_SERVICE),
    ]


def own_models(workspace: Path) -> list[GgufFile]:
    """Return the models that the user has, each file once, by place and name; at most MOST_MODELS.

    Left out are the known local judge, files that cannot chat (projectors, embedders, by name or architecture),
    incomplete models of several parts, and links that lead out of their folder.
    """
    known = {path().resolve()}
    found: list[GgufFile] = []
    for place, root in model_folders(workspace):
        listed = _of_ollama(root) if place == "Ollama" else _in_folder(place, root)
        for model in sorted(listed, key=lambda one: one.name.lower()):
            target = model.file.resolve()
            if target not in known and len(found) < MOST_MODELS:
                known.add(target)
                found.append(model)
    return found


def _in_folder(place: str, root: Path) -> Iterator[GgufFile]:
    for file in _files(root, ".gguf"):
        part = PART.fullmatch(file.name)
        if NO_CHAT.search(file.name) or (part and int(part["number"]) != 1):
            continue
        size = _size(file, root)
        if part and size is not None:
            sizes = [_size(part, root) for part in parts_of(file)]
            size = sum(own or 0 for own in sizes) if None not in sizes else None
        if size is not None:
            yield GgufFile(part["name"] if part else file.name[: -len(".gguf")], file, size, place)


def _of_ollama(root: Path) -> Iterator[GgufFile]:
    """Yield the models of Ollama's manifests: HOST/NAMESPACE/NAME/TAG, whose layers name the blob that is the GGUF."""
    manifests = root / "manifests"
    for manifest in _files(manifests, ""):
        *owner, name, tag = manifest.relative_to(manifests).parts
        full = "/".join([*owner[len(OLLAMA_HUB) if tuple(owner) == OLLAMA_HUB else 0 :], f"{name}:{tag}"])
        digest = _model_layer(manifest)
        if digest is None or NO_CHAT.search(full):
            continue
        file = root / "blobs" / digest.replace(":", "-")
        size = _size(file, root)
        if size is not None:
            yield GgufFile(full, file, size, "Ollama")


def _files(root: Path, ending: str) -> Iterator[Path]:
    """Yield the files below a folder whose names end so and can be shown; links to folders are not followed."""
    left = MOST_ENTRIES
    waiting = [(root, 0)]
    while waiting:
        here, depth = waiting.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return
                    if not entry.name.isprintable():
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if depth < DEEPEST:
                            waiting.append((here / entry.name, depth + 1))
                    elif entry.name.lower().endswith(ending):
                        yield here / entry.name
        except OSError:  # absent, or not ours to read
            continue


def _size(file: Path, root: Path) -> int | None:
    """Return the bytes of a GGUF file that can chat; None for anything else, and for a link out of `root`."""
    try:
        target = file.resolve()
        state = target.stat()
        if not target.is_relative_to(root.resolve()) or not stat.S_ISREG(state.st_mode):
            return None
        with target.open("rb") as stream:
            head = stream.read(HEAD)
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        return None
    chats = head.startswith(MAGIC) and not NO_CHAT_KINDS.search(_architecture(head))
    return state.st_size if chats else None


def _architecture(head: bytes) -> str:
    """Return the architecture that the beginning of a GGUF file names: a text after its length in 8 bytes, or ""."""
    at = head.find(ARCHITECTURE)
    if at < 0:
        return ""
    text = head[at + len(ARCHITECTURE) + 4 :]  # 4 bytes: the type of the value
    return text[8 : 8 + min(64, int.from_bytes(text[:8], "little"))].decode("ascii", "replace")


def _model_layer(manifest: Path) -> str | None:
    """Return the digest of the blob that an Ollama manifest names as its model; None where it names none."""
    try:
        if not stat.S_ISREG(manifest.stat().st_mode):
            return None
        with manifest.open("rb") as stream:
            layers = json.loads(stream.read(LARGEST_MANIFEST))["layers"]
        digests = [layer["digest"] for layer in layers if layer["mediaType"] == OLLAMA_MODEL]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return next((one for one in digests if isinstance(one, str) and DIGEST.fullmatch(one)), None)


USUAL = {"Ollama": 11434, "llama.cpp": 8080, "LM Studio": 1234, "vLLM": 8000}
PATIENCE = 2.0  # seconds
LONGEST_BODY = 1 << 20  # bytes
MAX_SERVED_MODELS = 50  # of a server
LONGEST_NAME = 200  # characters
WANTS_KEY = (401, 403)


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server that answers: whose port it is, its address for `base_url`, its models; `locked`: it asks for a key."""

    name: str
    base_url: str
    models: tuple[str, ...] = ()
    locked: bool = False


def running_servers(ports: Mapping[str, int] | None = None) -> list[ModelServer]:
    """Return the OpenAI-compatible servers on the usual ports of this machine, or on `ports`, by name.

    Each is asked once for its models; no key is sent, no other machine is asked. What answers anything else is no such
    server. Models whose names say that they embed or rank are left out. Raises MissingResource without assay[judge].
    """
    if reason := missing_extra("a search for servers", "judge", "aiohttp"):
        raise MissingResource(reason)
    return asyncio.run(_ask_servers(USUAL if ports is None else ports))


async def _ask_servers(ports: Mapping[str, int]) -> list[ModelServer]:
    import aiohttp

    async with aiohttp.ClientSession(trust_env=False) as session:
        found = await asyncio.gather(*(_ask_server(session, name, port) for name, port in ports.items()))
    return [server for server in found if server is not None]


async def _ask_server(session: "aiohttp.ClientSession", name: str, port: int) -> ModelServer | None:
    address = f"http://127.0.0.1:{port}/v1"
    try:
        status, _, body = await exchange(session, "GET", f"{address}/models", None, PATIENCE, LONGEST_BODY)
        if status in WANTS_KEY:
            return ModelServer(name, address, locked=True)
        models = _models(decoded(body)) if status == 200 else None
    except (CallFailed, ValueError):
        return None
    return None if models is None else ModelServer(name, address, models)


def _models(reply: Any) -> tuple[str, ...] | None:
    """Return the names in a list of models that can be shown and asked for; None where the reply is no such list."""
    if not isinstance(reply, dict) or not isinstance(reply.get("data"), list):
        return None
    names = (entry.get("id") for entry in reply["data"] if isinstance(entry, dict))
    usable = (name for name in names if isinstance(name, str) and _usable(name))
    return tuple(dict.fromkeys(usable))[:MAX_SERVED_MODELS]


def _usable(name: str) -> bool:
    shown = 0 < len(name.strip()) == len(name) <= LONGEST_NAME and name.isprintable()
    return shown and not NO_CHAT.search(name) and redact(name) == name
