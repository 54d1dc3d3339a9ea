"""A GGUF file that someone has prepared: what its library does with it ends in a process of its own, with a reason."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

pytest.importorskip("xllamacpp")
pytest.importorskip("gguf")

from metrics.core.errors import MissingResource
from metrics.judge.completion import CallFailed
from metrics.judge.local import model_process
from metrics.judge.local.completer import LocalCompleter, LocalModel
from metrics.judge.settings import JudgeSettings
from tests.conftest import PROJECT
from tests.judge.tiny_gguf import tiny_gguf

QUESTION = [{"role": "user", "content": "Is it so?"}]
RECURSION = "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}"
ENDLESS = "{% for i in range(1000000000) %}{% endfor %}"
PREPARED = {
    "a template that calls itself": ({"template": RECURSION}, "ended by SIGSEGV while loading"),
    "a template of 50,000 nested blocks": ({"template": "{% if 1 %}" * 50_000 + "{% endif %}" * 50_000}, "SIGSEGV"),
    "a template that never ends": ({"template": ENDLESS}, "took longer than 1 s and was ended while loading"),
    "a template of a gigabyte": ({"template": "{{ 'x' * 1000000000 }}"}, "took longer than 1 s and was ended"),
    "two billion layers": ({"blocks": 2**31 - 1}, "ended by SIGABRT while loading"),
}


def children() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if "model_process" in " ".join(one.cmdline())]


@pytest.mark.attack("package", "a GGUF model has a chat template that recurses, loops or grows without end, or sizes that make its library abort", "it is loaded and asked in a process of its own, with a time limit, whose end is an error with its reason")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize(("prepared", "why"), PREPARED.values(), ids=PREPARED)
def test_a_prepared_file_ends_its_own_process(prepared, why, tmp_path, monkeypatch):
    file = tiny_gguf(tmp_path / "prepared.gguf", **prepared)
    if "took longer" in why:
        monkeypatch.setattr(model_process, "LOADING", 1.0)
    judge = LocalCompleter(JudgeSettings(model=f"local:{file}"))
    with pytest.raises(CallFailed, match=why) as told:
        asyncio.run(judge.complete(QUESTION, {}, "test"))
    assert (told.value.trouble, children()) == ("refused", [])


@pytest.mark.attack("package", "a chat template calls Python's classes, reads files or raises texts with escape sequences", "the library's templates know none of them; the file is refused")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("template", [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{% include '/etc/passwd' %}",
    "{{ raise_exception('\x1b[2J') }}",
], ids=["classes", "files", "escapes"])  # fmt: skip
def test_a_template_reaches_nothing(template, tmp_path):
    model = LocalModel(tiny_gguf(tmp_path / "prepared.gguf", template))
    with pytest.raises(MissingResource, match=r"prepared\.gguf cannot be loaded as a GGUF model \(RuntimeError: [ -~]+"):  # fmt: skip  # noqa: E501
        model.likelihood(QUESTION, ["yes", "no"])


def test_a_model_that_died_is_started_again(tmp_path):
    model = LocalModel(tiny_gguf(tmp_path / "m.gguf"))
    first, _ = model.likelihood(QUESTION, ["yes", "no"])
    (process,) = children()
    process.kill()
    with pytest.raises(model_process.ModelEnded, match="ended by SIGKILL while answering"):
        model.likelihood(QUESTION, ["yes", "no"])
    again, _ = model.likelihood(QUESTION, ["yes", "no"])
    assert again == first
    del model
    assert children() == []


def test_a_stopped_question_ends_its_process(tmp_path):
    judge = LocalCompleter(JudgeSettings(model=f"local:{tiny_gguf(tmp_path / 'm.gguf', ENDLESS)}"))

    async def stop() -> None:
        asked = asyncio.create_task(judge.complete(QUESTION, {}, "test"))
        while not children():
            await asyncio.sleep(0.05)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    asyncio.run(stop())  # which waits for the thread
    assert children() == []


def test_it_ends_with_its_parent(tmp_path):
    code = f"""
from pathlib import Path
from metrics.judge.local import model_process
from metrics.judge.local.completer import LocalModel
model_process.LOADING = 3600
LocalModel(Path({str(tiny_gguf(tmp_path / "m.gguf", ENDLESS))!r})).likelihood({QUESTION!r}, ["yes", "no"])
"""
    parent = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(PROJECT)})
    while not (found := psutil.Process(parent.pid).children()) or found[0].cpu_times().user < 1:
        assert parent.poll() is None
        time.sleep(0.05)  # until it is amid the template
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    psutil.wait_procs(found, 60)
    assert not found[0].is_running()
