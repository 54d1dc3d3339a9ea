"""A GGUF file of the user is known by its weights: replies, runs and the loaded model never belong to a mere name."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from metrics import engine
from metrics.core.errors import MissingResource
from metrics.core.files import sha256_of
from metrics.core.prompt import Prompt
from metrics.core.suite import Outputs, Suite
from metrics.engine.plan import plan
from metrics.judge.asking import Reply
from metrics.judge.client import CaseJudge
from metrics.judge.completion import Completion, Messages
from metrics.judge.local import completer, install
from metrics.judge.local.install import MODEL
from metrics.judge.local.short_questions import VERSION
from metrics.judge.open_judges import missing_judge, open_judges
from metrics.judge.settings import JudgeSettings
from metrics.store import Run, Workspace

TEXT = Prompt("test.text", "Say it.")


class Said(Reply):
    text: str


class Telling:
    """A completer that replies with the content of its file; it counts what it is asked."""

    asked = 0

    def __init__(self, settings: JudgeSettings):
        self._content = Path(settings.model.partition(":")[2]).read_text()

    async def complete(self, messages: Messages, schema: Mapping[str, Any], name: str) -> Completion:
        Telling.asked += 1
        return Completion(json.dumps({"text": self._content}), 1, 1, 0.0)

    async def close(self) -> None: ...


def asked(file: Path, cache: Path, **more: Any) -> tuple[str, str]:
    """The reply of a judge of that file, and the judge's name."""

    async def one() -> tuple[str, str]:
        (client,) = open_judges({"model": f"local:{file}", **more}, cache, opener=Telling)
        try:
            return (await CaseJudge(client).ask(TEXT, Said, {})).text, client.name
        finally:
            await client.close()

    return asyncio.run(one())


def parts(file: Path) -> list[Path]:
    """Three files of one model, which differ in the last alone."""
    return [file.with_name(f"m-0000{number}-of-00003.gguf") for number in (1, 2, 3)]


@pytest.mark.parametrize("files", [lambda file: [file], parts, lambda file: [file.with_name("link.gguf")]],
    ids=["one", "three", "a link"])  # fmt: skip
def test_replies_belong_to_the_weights_not_to_the_name(tmp_path, files):
    target = tmp_path / "m.gguf"
    first, *_, last = [*files(target), files(target)[-1]]
    for part in files(target):
        if part.name == "link.gguf":
            target.write_text("old")
            part.symlink_to(target)
        part.write_text("old")
    Telling.asked = 0
    cache = tmp_path / "cache"
    _, name = asked(first, cache)
    asked(first, cache)
    assert Telling.asked == 1
    last.write_text("new weights")
    _, renamed = asked(first, cache)
    assert Telling.asked == 2, "another model of that name"
    assert name != renamed
    assert name.startswith(f"local:{first} (")
    last.write_text("old")
    asked(first, cache)
    assert Telling.asked == 2, "the first one again"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for part in files(target):
        (elsewhere / part.name).write_bytes(part.read_bytes())
    asked(elsewhere / first.name, cache)
    assert Telling.asked == 2, "the same weights in another place"


def test_the_known_judge_keeps_its_key():
    """Replies of the bundled sample were recorded under it."""
    settings = JudgeSettings(model="local")
    assert json.loads(settings.identity()) == {
        "model": "local", "base_url": None, "temperature": 0.0, "max_tokens": 4096, "questions": VERSION,
        "weights": MODEL.sha256,
    }  # fmt: skip
    assert settings.with_weights() == settings


def test_weights_are_read_once_for_each_state(tmp_path, monkeypatch):
    read: list[Path] = []
    monkeypatch.setattr(install, "sha256_of", lambda path: read.append(path) or sha256_of(path))
    file = tmp_path / "m.gguf"
    assert install.weights_of(file) is None
    file.write_text("one")
    assert install.weights_of(file) == install.weights_of(file) == sha256_of(file)
    assert len(read) == 1
    state = file.stat()
    other = tmp_path / "other"
    other.write_text("two")  # as long, and said to be as old
    os.utime(other, ns=(state.st_atime_ns, state.st_mtime_ns))
    other.replace(file)
    assert (install.weights_of(file), len(read)) == (sha256_of(file), 2)
    assert install.weights_of(tmp_path / "m-00001-of-00002.gguf") is None


def test_a_replaced_file_is_loaded_again(tmp_path):
    file = tmp_path / "m.gguf"
    file.write_text("one")
    first = completer._loaded(file)
    assert completer._loaded(file) is first
    file.write_text("another")
    assert completer._loaded(file) is not first


def test_a_run_stores_the_weights_and_takes_no_others(tmp_path, workspace):
    file = tmp_path / "m.gguf"
    file.write_text("one")
    case = {"case_id": "a", "question": "Who?", "source_text": "Ann did."}
    suite = Suite.from_rows("s", "text", [case])
    outputs = Outputs.from_rows([{"case_id": "a", "model": "m", "answer": "Ann."}])
    given = {"judge": {"model": f"local:{file}", "panel": [{"model": "gpt-4o-mini"}]}}

    def created() -> Run:
        return engine.create(Workspace(), suite, outputs, ["summary_coherence"], resources=given)

    before, again = created(), created()
    stored = before.spec.judge
    assert stored["weights"] == sha256_of(file)
    assert [unit.name for unit in plan(before)] == [unit.name for unit in plan(again)]
    assert missing_judge({**stored, "panel": []}) is None
    file.write_text("two")
    assert missing_judge(stored) == (
        f"{file} has other weights now (sha256 {sha256_of(file)[:12]}…) than those that judged before "
        f"({stored['weights'][:12]}…): put the file back, or start another run"
    )
    with pytest.raises(MissingResource, match="has other weights now"):
        asked(file, tmp_path / "cache", weights=stored["weights"])
    assert [unit.name for unit in plan(created())] != [unit.name for unit in plan(before)]
    file.unlink()
    assert "there is no file" in str(missing_judge(stored))


def test_a_panel_of_one_file_twice_is_refused_and_stays_readable(tmp_path):
    one, other = tmp_path / "a.gguf", tmp_path / "b.gguf"
    for file in (one, other):
        file.write_text("the same")
    with pytest.raises(ValueError, match="two are the same"):
        JudgeSettings.model_validate({"model": f"local:{one}", "panel": [{"model": f"local:{one}"}]})
    stored = JudgeSettings.model_validate({"model": f"local:{one}", "panel": [{"model": f"local:{other}"}]})
    assert JudgeSettings.model_validate(stored.with_weights().model_dump()) == stored.with_weights()
