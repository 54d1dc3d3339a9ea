"""Where models compute. torch's device `meta`, which holds no numbers, stands in for a GPU."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from metrics.models.hhem import open_classifier
from metrics.models.language_model import open_language_model
from metrics.models.model_files import device, settle_torch
from metrics.models.token_encoder import open_token_encoder
from tests.models import tiny

PAIR = ("the cat", "a mat")


def threads() -> int:
    import torch

    settle_torch()
    return torch.get_num_threads()


def test_a_worker_uses_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(threads).result() == 1


class Reached(Exception):
    """The model is asked: the devices of what it is given."""


@pytest.mark.parametrize("seen", [pytest.param(True, id="a GPU"), pytest.param(False, id="no GPU")])
def test_a_gpu_is_used_where_torch_sees_one(monkeypatch: pytest.MonkeyPatch, seen: bool) -> None:
    monkeypatch.delenv("ASSAY_DEVICE", raising=False)
    monkeypatch.setattr("torch.cuda.is_available", lambda: seen)
    assert device() == ("cuda" if seen else "cpu")
    monkeypatch.setenv("ASSAY_DEVICE", "cpu")
    assert device() == "cpu", "chosen"


@pytest.mark.parametrize(("write", "opened", "ask"), [
    pytest.param(tiny.classifier, open_classifier, lambda made: made._rows([PAIR]), id="classifier"),
    pytest.param(tiny.hhem, open_classifier, lambda made: made._rows([PAIR]), id="HHEM"),
    pytest.param(tiny.classifier, open_token_encoder, lambda made: made.encode(["the cat"]), id="token encoder"),
    pytest.param(tiny.language_model, open_language_model, lambda made: made._rows([PAIR]), id="language model"),
])  # fmt: skip
def test_a_model_and_its_texts_meet_on_the_device(write, opened, ask, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_DEVICE", "meta")
    made = opened(str(write(tmp_path / "model")), tmp_path / "cache")
    model = made._loaded[0]

    def stop(_: object, __: object, given: dict[str, Any]) -> None:
        raise Reached({value.device.type for value in given.values() if hasattr(value, "device")})

    parts = model if isinstance(model, tuple) else (model,)
    assert {weight.device.type for part in parts for weight in part.parameters()} == {"meta"}
    parts[0].register_forward_pre_hook(stop, with_kwargs=True)
    with pytest.raises(Reached) as reached:
        ask(made)
    assert reached.value.args[0] == {"meta"}
