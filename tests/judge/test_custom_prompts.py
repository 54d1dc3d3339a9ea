"""Prompts of one's own: saved, versioned, shared."""

import json

import pytest

from metrics.core.errors import InputError
from metrics.core.registry import choose
from metrics.judge.custom_prompts import CustomPrompt
from metrics.judge.saved_objects import every, load, read_object, save

POLITE = CustomPrompt(id="polite", title="Polite?", prompt="Is {actual_answer} polite?")


def test_a_saved_prompt_comes_back_whole(tmp_path):
    assert every(tmp_path, CustomPrompt) == []
    graded = POLITE.model_copy(update={"id": "tone", "mode": "graded", "levels": {"freundlich": 1.0, "grob": 0.0}})
    save(tmp_path, graded)
    save(tmp_path, POLITE)
    assert (every(tmp_path, CustomPrompt), load(tmp_path, CustomPrompt, "tone")) == ([POLITE, graded], graded)
    choose(["byop"], {"byop": graded.parameters})


def test_a_file_that_was_shared_is_read_with_every_problem_at_once():
    text = json.dumps({"id": "No Name", "title": "", "prompt": "hello", "mode": "maybe", "extra": 1})
    with pytest.raises(InputError) as refused:
        read_object(CustomPrompt, text, "shared.json")
    assert [problem.column for problem in refused.value.problems] == ["id", "title", "prompt", "mode", "extra"]
    assert "{actual_answer}, or the judge is shown nothing of the case" in str(refused.value)


@pytest.mark.parametrize("name", ["../up", "a/b", "", "A", "a" * 65, ".hidden", "x\n"])
def test_an_id_is_a_file_name_and_nothing_else(name):
    with pytest.raises(InputError, match="column id"):
        read_object(CustomPrompt, json.dumps({"id": name, "title": "t", "prompt": "{question}"}), "p.json")


@pytest.mark.parametrize(("content", "found"), [
    (b"{", "Expecting property name enclosed in double quotes at line 1, column 2"),
    (b"\xff\xfe", "'utf-8' codec can't decode byte 0xff"),
    (b" " * 1_000_001, "a file of over 1 MB"),
], ids=["json", "encoding", "size"])  # fmt: skip
def test_a_file_that_is_none_says_what_is_wrong(tmp_path, content, found):
    path = tmp_path / "prompts" / "bad.json"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        every(tmp_path, CustomPrompt)
    assert str(refused.value).startswith("bad.json: found ")
    assert found in str(refused.value)
