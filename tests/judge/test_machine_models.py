"""Models on this machine: files in a made-up home, and servers that are not all what they seem."""

import json
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from metrics.cli.main import main
from metrics.judge.local import other_models
from metrics.judge.local.other_models import ModelServer, own_models, running_servers
from metrics.judge.settings import JudgeSettings

DIGEST = "ab" * 32


def gguf(architecture: str = "qwen2", size: int = 1000) -> bytes:
    """The beginning of a GGUF file: magic, version, counts, and its first key."""
    key, value = b"general.architecture", architecture.encode()
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1)
    head += struct.pack("<Q", len(key)) + key + struct.pack("<IQ", 8, len(value)) + value
    return head.ljust(size, b"\0")


def write(file: Path, content: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home, in which no variable leads elsewhere."""
    for name in ("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "OLLAMA_MODELS", "LLAMA_CACHE", "ASSAY_MODELS"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(other_models, "OLLAMA_SERVICE", tmp_path / "nowhere")
    return home


def names(workspace: Path) -> list[tuple[str, str]]:
    return [(one.place, one.name) for one in own_models(workspace)]


def ollama(folder: Path, model: str, digest: object = f"sha256:{DIGEST}") -> Path:
    layers = [
        {"mediaType": "application/vnd.ollama.image.license", "digest": f"sha256:{'cd' * 32}"},
        {"mediaType": "application/vnd.ollama.image.model", "digest": digest},
    ]
    return write(folder / "manifests" / model, json.dumps({"layers": layers}).encode())


class TestFiles:
    def test_every_usual_folder(self, home, workspace):
        for file in (
            workspace / "models/mine.gguf",
            home / ".cache/assay/models/other.gguf",
            home / ".cache/llama.cpp/ggml-org_gemma.gguf",
            home / ".lmstudio/models/lmstudio-community/Qwen/qwen.GGUF",
            home / ".cache/lm-studio/models/a/b/old.gguf",
            home / ".cache/huggingface/hub/models--o--n/snapshots/1f/deep/phi.gguf",
        ):
            write(file, gguf())
        ollama(home / ".ollama/models", "registry.ollama.ai/library/llama3.2/1b")
        write(home / f".ollama/models/blobs/sha256-{DIGEST}", gguf("llama", 2000))
        assert names(workspace) == [
            ("workspace", "mine"), ("Assay", "other"), ("llama.cpp", "ggml-org_gemma"), ("LM Studio", "qwen"),
            ("LM Studio", "old"), ("Hugging Face", "phi"), ("Ollama", "llama3.2:1b"),
        ]  # fmt: skip
        last = own_models(workspace)[-1]
        assert (last.size, last.model) == (2000, f"local:{home}/.ollama/models/blobs/sha256-{DIGEST}")
        assert JudgeSettings(model=last.model).is_local

    @pytest.mark.parametrize(("variable", "file", "place"), [
        ("ASSAY_MODELS", "m.gguf", "Assay"),
        ("LLAMA_CACHE", "m.gguf", "llama.cpp"),
        ("HF_HUB_CACHE", "models--o--n/snapshots/1/m.gguf", "Hugging Face"),
        ("HF_HOME", "hub/models--o--n/snapshots/1/m.gguf", "Hugging Face"),
        ("XDG_CACHE_HOME", "llama.cpp/m.gguf", "llama.cpp"),
    ])  # fmt: skip
    def test_folders_that_variables_name(self, home, workspace, monkeypatch, variable, file, place):
        monkeypatch.setenv(variable, str(home / "elsewhere"))
        write(home / "elsewhere" / file, gguf())
        assert names(workspace) == [(place, "m")]

    @pytest.mark.parametrize(("name", "content"), [
        ("weights.gguf", b"PK\3\4 no model"), ("empty.gguf", b""), ("weights.bin", gguf()),
        ("mmproj-model-f16.gguf", gguf("clip")), ("vision.gguf", gguf("clip")),
        ("Qwen3-Embedding-0.6B.gguf", gguf("qwen3")), ("bge-small.gguf", gguf("bert")),
        ("nomic.gguf", gguf("nomic-bert")), ("Qwen3-Reranker.gguf", gguf("qwen3")),
        ("ggml-vocab-llama.gguf", gguf("llama")), ("evil\nname.gguf", gguf()), ("big-00001-of-00002.gguf", gguf()),
        ("big-00002-of-00002.gguf", gguf()), ("many-00001-of-99999.gguf", gguf()),
    ])  # fmt: skip
    def test_what_is_no_model_to_chat_with(self, home, workspace, name, content):
        write(workspace / "models" / name, content)
        assert names(workspace) == []

    def test_a_length_that_lies_and_a_model_of_several_parts(self, home, workspace):
        head = b"GGUF" + struct.pack("<IQQQ", 3, 1, 1, 20) + b"general.architecture" + struct.pack("<IQ", 8, 2**63)
        write(workspace / "models" / "odd.gguf", head + b"qwen2")
        assert names(workspace) == [("workspace", "odd")]
        for number in (1, 2, 3):
            write(workspace / "models" / f"big-0000{number}-of-00003.gguf", gguf(size=1000 * number))
        one, _ = own_models(workspace)
        assert (one.name, one.size, one.file.name) == ("big", 6000, "big-00001-of-00003.gguf")

    def test_links_are_followed_within_their_folder_only(self, home, workspace, tmp_path):
        hub = home / ".cache/huggingface/hub"
        snapshot = hub / "models--o--n/snapshots/1"
        write(hub / "models--o--n/blobs/ab12", gguf())
        snapshot.mkdir(parents=True)
        (snapshot / "inside.gguf").symlink_to("../../blobs/ab12")
        (snapshot / "same.gguf").symlink_to("../../blobs/ab12")
        (snapshot / "outside.gguf").symlink_to(write(tmp_path / "secret" / "x.gguf", gguf()))
        (snapshot / "circle.gguf").symlink_to("circle.gguf")
        (snapshot / "folder").symlink_to(tmp_path / "secret")
        (hub / "up").symlink_to(hub)
        assert names(workspace) == [("Hugging Face", "inside")]

    def test_the_search_is_bounded(self, home, workspace, monkeypatch):
        models = workspace / "models"
        write(models / Path(*"abcdefg") / "deep.gguf", gguf())
        assert names(workspace) == []
        for number in range(9):
            write(models / f"m{number}.gguf", gguf())
        monkeypatch.setattr(other_models, "MOST_MODELS", 4)
        assert len(own_models(workspace)) == 4
        monkeypatch.setattr(other_models, "MOST_ENTRIES", 3)
        assert len(own_models(workspace)) <= 3

    def test_the_known_judge_is_not_listed_again(self, home, workspace):
        write(other_models.path(), gguf())
        assert names(workspace) == []

    @pytest.mark.parametrize("manifest", [
        b"not json", b"[]", b'{"layers": 3}', b'{"layers": [{"digest": 1}]}', b"[" * 100_000,
        b'{"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:../../../x"}]}',
        b'{"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": 7}]}',
    ], ids=["no JSON", "a list", "no layers", "no type", "deep", "a path", "a number"])  # fmt: skip
    def test_manifests_that_are_none(self, home, workspace, manifest):
        root = home / ".ollama/models"
        write(root / "manifests/registry.ollama.ai/library/broken/latest", manifest)
        ollama(root, "registry.ollama.ai/ann/gemma/2b")
        ollama(root, "hf.co/org/some/Q4")
        write(root / f"blobs/sha256-{DIGEST}", gguf())
        assert {place for place, _ in names(workspace)} == {"Ollama"}
        assert len(names(workspace)) == 1, "two names of one blob are one model"


def test_names_of_ollama(home, workspace):
    root = home / ".ollama/models"
    for number, model in enumerate(("registry.ollama.ai/library/llama3.2/1b", "registry.ollama.ai/ann/gemma/2b",
                                    "hf.co/org/some/Q4")):  # fmt: skip
        ollama(root, model, f"sha256:{number:064}")
        write(root / f"blobs/sha256-{number:064}", gguf())
    named = {"llama3.2:1b", "registry.ollama.ai/ann/gemma:2b", "hf.co/org/some:Q4"}
    assert {name for _, name in names(workspace)} == named


class Answering(BaseHTTPRequestHandler):
    """Gives the reply of its server to every request."""

    def do_GET(self) -> None:
        status, body, headers = self.server.reply  # type: ignore[attr-defined]
        self.server.seen.append((self.path, dict(self.headers)))  # type: ignore[attr-defined]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """A server on a free port, with one reply for all."""

    reply: tuple[int, bytes, dict[str, str]] = (200, b"{}", {})

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.seen: list[tuple[str, dict[str, str]]] = []


@pytest.fixture
def server():
    with Server() as one:
        thread = threading.Thread(target=one.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield one
        one.shutdown()
        thread.join()


def listed(*models: object) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": model} for model in models]}).encode()


def ask_server(server: Server) -> list[ModelServer]:
    return running_servers({"Ollama": server.server_port})


class TestServers:
    def test_its_models(self, server, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-CANARY0123456789abcdef")
        server.reply = (200, listed("llama3.2:1b", "nomic-embed-text", "qwen2.5"), {})
        address = f"http://127.0.0.1:{server.server_port}/v1"
        assert ask_server(server) == [ModelServer("Ollama", address, ("llama3.2:1b", "qwen2.5"))]
        ((path, headers),) = server.seen
        assert path == "/v1/models"
        assert "CANARY" not in str(headers)
        assert JudgeSettings(model="llama3.2:1b", base_url=address).name.startswith("llama3.2:1b at 127.0.0.1")

    @pytest.mark.parametrize(
        "reply",
        [
            (404, listed("m"), {}), (200, b"<html>", {}), (200, b"[" * 100_000, {}), (200, b"[]", {}),
            (200, b'{"data": {"id": "m"}}', {}), (200, b" " * (1 << 20) + listed("m"), {}),
            (302, b"", {"Location": "http://192.0.2.1/v1/models"}), (500, b"", {}), (200, b"\xff\xfe", {}),
        ],
        ids=["no such path", "a page", "deep", "a list", "no list", "huge", "sent elsewhere", "an error", "no text"],
    )  # fmt: skip
    def test_what_is_no_server_of_models(self, server, reply):
        server.reply = reply
        assert ask_server(server) == []

    def test_names_to_hide_too_many_and_a_server_that_asks_for_a_key(self, server):
        hostile = ["", " m", "a\nb", "\x1b[2J", "x" * 201, 7, None, {"a": 1}, "sk-CANARY0123456789abcdef"]
        server.reply = (200, listed(*hostile, "fine", "fine"), {})
        assert ask_server(server)[0].models == ("fine",)
        server.reply = (200, listed(*(f"m{number}" for number in range(500))), {})
        assert len(ask_server(server)[0].models) == other_models.MAX_SERVED_MODELS
        server.reply = (401, b"", {})
        assert [(one.models, one.locked) for one in ask_server(server)] == [((), True)]


class TestCommand:
    def test_files_and_servers(self, home, workspace, server, monkeypatch, capsys):
        assert main(["judge", "list"]) == 0
        nothing = capsys.readouterr()
        assert "not installed; get it once by: python -m metrics judge install" in nothing.out
        assert f"{workspace}/models" in nothing.err
        assert "--servers looks for them" in nothing.err
        file = write(workspace / "models" / "my model.gguf", gguf(size=1_200_000))
        server.reply = (200, listed("qwen2.5"), {})
        monkeypatch.setattr(other_models, "USUAL", {"Ollama": server.server_port})
        assert main(["judge", "list"]) == 0
        assert not server.seen, "servers are asked on request only"
        assert main(["judge", "list", "--servers", "--quiet"]) == 0
        said = capsys.readouterr().out
        assert f"my model, 1.2 MB, workspace\n  --judge 'local:{file}'\n" in said
        assert f"  --judge qwen2.5 --judge-base-url http://127.0.0.1:{server.server_port}/v1\n" in said
        with Server() as closed:
            monkeypatch.setattr(other_models, "USUAL", {"Ollama": closed.server_port})
        assert main(["judge", "list", "--servers"]) == 0
        assert "no server answers on the usual ports (Ollama" in capsys.readouterr().err
