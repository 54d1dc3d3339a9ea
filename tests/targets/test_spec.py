"""Targets from texts, files, functions and flags."""

import json
import re
from typing import Any

import pytest

from metrics.core.errors import InputError
from metrics.targets.description import HttpTarget, ModelTarget
from metrics.targets.spec import targets_of


def bot(case: dict[str, Any]) -> str:
    return str(case["question"])


@pytest.mark.parametrize(("text", "kind", "title"), [
    ("gpt-4o-mini", "model", "gpt-4o-mini"), ("ollama/llama3:8b", "model", "ollama/llama3:8b"),
    ("small=local:m.gguf", "model", "small"),
    ("http://localhost:8000/ask?x=1", "http", "localhost:8000/ask"),
    ("mine=https://bot.example/v1/", "http", "mine"),
    ("command:python bot.py --q 'a b'", "command", "python bot.py --q a b"),
    ("tests.targets.test_spec:bot", "function", "bot"), ("folder/bot.py:answer", "function", "answer"),
])  # fmt: skip
def test_a_text(text, kind, title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "bot.py").write_text("def answer(case): return 'x'")
    (target,) = targets_of(text)
    assert (target.kind, target.title) == (kind, title)


def test_a_grid_of_prompts_and_models(tmp_path):
    prompts = {"short": "{question}", "long": "Think. {question}"}
    file = tmp_path / "t.yaml"
    file.write_text(json.dumps([{"models": ["m1", "m2"], "prompts": prompts, "max_tokens": 19}, {"url": "http://h/a"}]))
    found = targets_of(file, {"concurrency": 2, "temperature": 1})
    assert [target.title for target in found] == ["m1 · short", "m1 · long", "m2 · short", "m2 · long", "h/a"]
    assert isinstance(found[3], ModelTarget)
    assert (found[3].prompt, found[3].max_tokens, found[3].temperature) == ("Think. {question}", 19, 1)
    assert [target.concurrency for target in found] == [2] * 5
    flags = targets_of(["m1", "m2"], {"prompts": prompts})
    assert [target.title for target in flags] == ["m1 · short", "m1 · long", "m2 · short", "m2 · long"]


@pytest.mark.parametrize(("given", "message"), [
    ({"kind": "http"}, "target, column url: found nothing; expected Field required"),
    ({"kind": "shell"}, "target, column kind: found 'shell'; expected Input tag 'shell' found using 'kind' does "
     "not match any of the expected tags: 'model', 'http', 'command', 'function'"),
    ({"url": "ftp://x"}, "target, column url: found 'ftp://x'; expected url must be an address like "
     "https://bot.example/ask"),
    ({"url": "http://u:p@x/"}, "url must not hold a password"),
    ({"url": "http://{question}/"}, "not in its host"),
    ({"url": "http://x", "headers": {"Authorization": "Bearer abc"}}, "the header Authorization needs a value from "
     "the environment, such as Bearer {BOT_KEY}"),
    ({"url": "http://x", "answer": "a[["}, "the path 'a[[' cannot be read from '[[' on"),
    ({"model": "m", "prompt": "use sk-abcdefgh12345678"}, "target: found what looks like a key; expected it holds "
     "what looks like a key: put that into the environment"),
    ({"model": "m", "models": []}, "a grid of another form"),
    ("nothing.json", "nothing.json: found No such file or directory; expected a file that describes targets"),
    ("no_such_module:f", "no_such_module:f (ModuleNotFoundError: No module named 'no_such_module')"),
    (["m", "m"], "found the name 'm' twice"),
    (["a=m", "b=m"], "found the same target as 'a' twice"),
    ([], "targets: found none"),
    ("python bot.py", "found python bot.py; expected a model's name, which has no blanks; a program is "
     "command:python bot.py"),
])  # fmt: skip
def test_what_is_wrong(given, message):
    with pytest.raises(InputError) as caught:
        targets_of(given)
    assert message in str(caught.value)
    assert "sk-abc" not in str(caught.value)


def test_what_a_fingerprint_depends_on(tmp_path):
    one = HttpTarget(url="http://x/a")
    assert HttpTarget(url="http://x/a", name="n", timeout=3, tries=9).fingerprint() == one.fingerprint()
    assert HttpTarget(url="http://x/a", version="2").fingerprint() != one.fingerprint()
    script = tmp_path / "bot.py"
    script.write_text("def f(case): return 'old'")
    before = targets_of(f"{script}:f")[0].fingerprint()
    script.write_text("def f(case): return 'new'")
    assert targets_of(f"{script}:f")[0].fingerprint() != before


def test_the_documented_description_is_understood(project, tmp_path):
    [text] = re.findall(r"```text\n(.*?)```", (project / "docs" / "targets.md").read_text(), re.DOTALL)
    file = tmp_path / "targets.yaml"
    file.write_text(text)
    assert [target.title for target in targets_of(file)] == [
        "our bot", "gpt-4o-mini · short", "gpt-4o-mini · grounded", "anthropic/claude-3-5-haiku-latest · short",
        "anthropic/claude-3-5-haiku-latest · grounded",
    ]  # fmt: skip
