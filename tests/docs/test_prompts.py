"""docs/prompts.md: every rule of a source is carried by words that stand in the prompt, or said to be left."""

import re

import pytest

from metrics.core.prompt import FRAME, Prompt
from metrics.core.registry import evaluators
from tests.conftest import PROJECT

TEXT = (PROJECT / "docs" / "prompts.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^### `([\w.]+)`\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (?!rule of the source|---)(.+?) \| (.+) \|$", re.MULTILINE)
SAID = re.compile(r"“([^”]+)”")
OTHERWISE = re.compile(r"(?:by code|departs): \S.{20,}")
ASKED: dict[str, Prompt] = {
    prompt.id: prompt for entry in evaluators().values() if "judge" in entry.resources for prompt in entry.prompts
}
RULES = {id: ROW.findall(section) for id, section in SECTION.findall(TEXT)}


def test_every_prompt_to_a_judge_has_its_list():
    assert set(RULES) == set(ASKED)
    assert len(SECTION.findall(TEXT)) == len(RULES), "no prompt twice"


@pytest.mark.parametrize("id", ASKED)
def test_a_rule_is_carried_or_its_departure_has_a_reason(id):
    assert RULES[id]
    text = ASKED[id].text.replace("\n", " ") + FRAME
    for rule, here in RULES[id]:
        said = SAID.findall(here)
        assert said or OTHERWISE.search(here), rule
        missing = [words for words in said if words not in text]
        assert missing == [], f"{id}: {rule}"


def test_what_all_prompts_share_stands_in_the_system_message():
    head = TEXT.partition("<!-- prompts")[0].replace("\n", " ")
    shared = [words for words in SAID.findall(head) if words.strip()]
    assert shared
    assert [words for words in shared if words not in FRAME] == []
