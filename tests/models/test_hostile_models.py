"""Model folders and caches that someone has prepared: no pickle is loaded, no code is run, no wrong number is taken."""

import json
import pickle
import shutil
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from metrics.core.errors import MissingResource
from metrics.models.embedder import bundled_folder, load, open_embedder
from metrics.models.model_files import fingerprints
from metrics.models.vectors import VectorCache, key


class Touch:
    """Makes a file where it is unpickled."""

    def __init__(self, place: Path):
        self.place = place

    def __reduce__(self) -> tuple[object, ...]:
        return open, (str(self.place), "w")


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **values}), encoding="utf-8")


def module(folder: Path, kind: str, path: str) -> None:
    listed = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    listed.append({"idx": len(listed), "name": str(len(listed)), "path": path, "type": kind})
    (folder / "modules.json").write_text(json.dumps(listed), encoding="utf-8")


def only_pickled(folder: Path, proof: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Touch(proof)))


def pickled_layer(folder: Path, proof: Path) -> None:
    module(folder, "sentence_transformers.models.Dense", "3_Dense")
    (folder / "3_Dense").mkdir()
    sizes = {"in_features": 384, "out_features": 384, "bias": True, "activation_function": "torch.nn.modules.linear.Identity"}  # fmt: skip  # noqa: E501
    (folder / "3_Dense/config.json").write_text(json.dumps(sizes), encoding="utf-8")
    (folder / "3_Dense/pytorch_model.bin").write_bytes(pickle.dumps(Touch(proof)))


def own_class(folder: Path, proof: Path) -> None:
    (folder / "prepared.py").write_text(f"open({str(proof)!r}, 'w')\nclass Layer: ...\n", encoding="utf-8")
    module(folder, "prepared.Layer", "3")


def own_code(folder: Path, proof: Path) -> None:
    (folder / "prepared.py").write_text(f"open({str(proof)!r}, 'w')\n", encoding="utf-8")
    change(folder / "config.json", model_type="own", auto_map={"AutoConfig": "prepared.A", "AutoModel": "prepared.B"})


FOLDERS: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "pickled weights alone": (only_pickled, "pickled weights can run code and are never loaded"),
    "one layer pickled": (pickled_layer, "3_Dense has no weights as .* pickled weights can run code"),
    "a layer of a class in the folder": (own_class, "'prepared.Layer', which is not part of Sentence Transformers"),
    "a layer of any class": (lambda folder, _: module(folder, "subprocess.Popen", "3"), "'subprocess.Popen', which is not part of"),  # noqa: E501
    "a layer outside the folder": (lambda folder, _: module(folder, "sentence_transformers.models.Dense", "../../etc"), r"without '\.\.' components"),  # noqa: E501
    "code of its own": (own_code, "contains custom code"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundled_folder(), tmp_path / "model"))


@pytest.mark.attack("package", "a model folder brings pickles, classes or code of its own, or paths that leave it", "only safetensors are loaded, and no code from the folder")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize(("prepare", "why"), FOLDERS.values(), ids=FOLDERS)
def test_nothing_in_a_model_folder_is_executed(folder: Path, tmp_path: Path, prepare, why: str) -> None:
    prepare(folder, proof := tmp_path / "executed")
    with pytest.raises(MissingResource, match=why):
        open_embedder(str(folder), tmp_path / "cache").encode(["a"])
    assert not proof.exists()


TEMPLATES = {
    "Python's classes": ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "SecurityError"),
    "a million times a million": ("{% for i in range(10**12) %}{% endfor %}", "OverflowError"),
    "a file": ("{% include '/etc/passwd' %}", "TypeError"),
}


@pytest.mark.attack("package", "a chat template of an embedding model calls Python's classes, reads a file or counts to a trillion", "it runs in a sandbox, which refuses them")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize(("template", "why"), TEMPLATES.values(), ids=TEMPLATES)
def test_a_chat_template_is_sandboxed(folder: Path, tmp_path: Path, template: str, why: str) -> None:
    way = {"method": "forward", "method_output_name": "last_hidden_state"}
    ways = {"text": way, "message": way | {"format": "flat"}}
    change(folder / "sentence_bert_config.json", modality_config=ways, module_output_name="token_embeddings")
    change(folder / "tokenizer_config.json", chat_template=template)
    with pytest.raises(Exception) as told:  # noqa: PT011 - whatever the library raises becomes an error of the case
        open_embedder(str(folder), tmp_path / "cache").encode(["a"])
    assert type(told.value).__name__ == why


def test_pickles_beside_safetensors_are_left_alone(folder: Path, tmp_path: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Touch(tmp_path / "executed")))
    assert fingerprints(folder) == fingerprints(bundled_folder())
    load(folder)
    assert not (tmp_path / "executed").exists()


def header(data: bytes, edit: Callable[[dict], object]) -> bytes:
    (length,) = struct.unpack_from("<Q", data)
    found = json.loads(data[8 : 8 + length])
    edit(found)
    text = json.dumps(found).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def tensor(found: dict) -> dict:
    return found["embeddings.position_embeddings.weight"]


TAMPERED: dict[str, Callable[[bytes], bytes]] = {
    "a header of four exabytes": lambda data: struct.pack("<Q", 2**62) + data[8:],
    "a header of 100 MB": lambda data: struct.pack("<Q", 100_000_001) + data[8:],
    "a file cut off": lambda data: data[: len(data) // 2],
    "tensors that overlap": lambda data: header(data, lambda found: tensor(found).update(data_offsets=[0, 786_432])),
    "a tensor outside": lambda data: header(data, lambda found: tensor(found).update(data_offsets=[2**40, 2**40 + 9])),
    "a shape beyond all memory": lambda data: header(data, lambda found: tensor(found).update(shape=[2**31, 2**31])),
    "a nested header": lambda data: struct.pack("<Q", 200_000) + b"[" * 100_000 + b"]" * 100_000 + data[-100:],
}


@pytest.mark.attack("package", "a safetensors file states lengths, shapes and places that it does not have", "the header is checked before anything is read by it")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_tampered_weights_are_refused(folder: Path, tmp_path: Path, tamper: Callable[[bytes], bytes]) -> None:
    place = folder / "model.safetensors"
    place.write_bytes(tamper(place.read_bytes()))
    with pytest.raises(MissingResource, match=r"cannot be loaded \(SafetensorError: "):
        open_embedder(str(folder), tmp_path / "cache").encode(["a"])


UNIT = np.full(4, 0.5, np.float32)
ROWS: dict[str, object] = {
    "no numbers": np.full(4, np.nan, np.float32).tobytes(), "infinite": np.full(4, np.inf, np.float32).tobytes(),
    "not of length 1": np.ones(4, np.float32).tobytes(), "cut off": UNIT.tobytes()[:7], "empty": b"",
    "a pickle": pickle.dumps(UNIT), "a text": "x" * 16, "a number": 5,
    "of another model": np.array([0.6, 0.8], np.float32).tobytes(),
}  # fmt: skip


@pytest.mark.attack("workspace writer", "rows of the vector cache are replaced by pickles, texts, or vectors that are none", "a row counts only as raw numbers of the model's width and of length 1; any other is computed again")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_tampered_vectors_are_computed_again(tmp_path: Path, row: object) -> None:
    cache = VectorCache(tmp_path / "v" / "m.sqlite3")
    names = [key("a"), key("b")]
    cache.keep(names, np.stack([UNIT, UNIT]), [False, False])
    with sqlite3.connect(tmp_path / "v" / "m.sqlite3") as connection:
        connection.execute("UPDATE vectors SET vector = ? WHERE key = ?", (row, names[0]))
    connection.close()
    assert (cache.lookup(names).keys(), cache.claim(names)) == ({names[1]}, {names[0]})
    cache.close()


def test_vectors_of_another_width_do_not_mix_with_the_models_own(tmp_path: Path) -> None:
    """Most rows are of another model, as after a copy of its file: they are computed again, not stacked."""
    first = open_embedder("bundled", tmp_path)
    right = first.encode(["a", "b", "c"])
    (file,) = (tmp_path / "vectors").glob("*.sqlite3")
    with sqlite3.connect(file) as connection:
        wrong = np.array([0.6, 0.8], np.float32).tobytes()
        connection.execute("UPDATE vectors SET vector = ? WHERE key != ?", (wrong, key("a")))
    connection.close()
    again = open_embedder("bundled", tmp_path).encode(["a", "b", "c", "d"])
    assert again.shape == (4, right.shape[1])
    np.testing.assert_allclose(again[:3], right, atol=1e-6)
