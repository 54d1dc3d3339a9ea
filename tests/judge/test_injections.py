"""The suite of injections, ten families in five languages, against every prompt: they stay data between delimiters."""

import re
from collections import Counter

import pytest

from metrics.core.evaluator import Evaluator
from metrics.core.prompt import Prompt
from metrics.core.registry import evaluators
from metrics.judge.injection import suspected
from tests.judge.attacks import ATTACKS, INJECTIONS
from tests.judge.judging import judged
from tests.judge.server import JudgeServer, Request
from tests.judge.test_injection import FACTS, JUDGED

NONCE = re.compile(r"<NAME ([0-9a-f]{12,})>")
LANGUAGES = ("en", "de", "es", "zh", "ar")
PROMPTS = {prompt.id: prompt for entry in evaluators().values() for prompt in entry.prompts}
ALL = [one.text.replace("NONCE", "0" * 32) for one in INJECTIONS] + list(ATTACKS.values())


def split(request: Request) -> tuple[str, list[str]]:
    """What stands outside the data of a request, and the blocks of data, found from outside: by the frame's nonce."""
    system, user = (message["content"] for message in request.messages[:2])
    found = NONCE.search(system)
    assert found is not None
    block = re.compile(rf"<(\w+) {found[1]}>\n(.*?)\n</\1 {found[1]}>", re.DOTALL)
    return block.sub("", user).strip(), [match[2] for match in block.finditer(user)]


def test_ten_families_in_five_languages() -> None:
    counts = Counter((one.family, one.language) for one in INJECTIONS)
    assert len(INJECTIONS) >= 120
    assert len({one.text for one in INJECTIONS}) == len(INJECTIONS)
    assert len({family for family, _ in counts}) == 10
    assert set(counts) == {(family, language) for family, _ in counts for language in LANGUAGES}
    assert min(counts.values()) >= 2


@pytest.mark.parametrize("prompt", [pytest.param(prompt, id=prompt.id) for prompt in PROMPTS.values()])
@pytest.mark.attack("model", "ten families of injections in five languages", "each stays within its block of data")
def test_every_attack_stays_in_its_block(prompt: Prompt) -> None:
    """Alone and in a list, for every prompt: two blocks come out, with all of the attack, and nothing else."""
    for attack in ALL:
        sent = Request({"messages": prompt.messages({"TEXT": attack, "ITEMS": ["first", attack]})}, {})
        outside, blocks = split(sent)
        assert outside == prompt.text.strip()
        assert blocks[0] == attack
        assert [line[:4] for line in blocks[1].splitlines() if line.startswith("[")] == ["[1] ", "[2] "]


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in JUDGED])
def test_what_stands_outside_the_data_never_changes(entry: Evaluator, judge_server: JudgeServer) -> None:
    """Over HTTP, with all attacks of a language in every text of the case at once."""
    declared = {prompt.text.strip() for prompt in entry.prompts}
    for language in LANGUAGES:
        attacks = "\n".join(["", *(one.text for one in INJECTIONS if one.language == language)])
        case = FACTS._replace(
            question=f"{FACTS.question}{attacks}",
            answer=f"{FACTS.answer}{attacks}",
            source_text=f"{FACTS.source_text}{attacks}",
            retrieved_contexts=tuple(f"{text}{attacks}" for text in FACTS.retrieved_contexts),
            expected_answers=tuple(f"{text}{attacks}" for text in FACTS.expected_answers),
        )
        judged(entry, case, judge_server)
    assert {split(request)[0] for request in judge_server.calls} <= declared
    assert len({request.messages[0]["content"].replace(nonce_of(request), "") for request in judge_server.calls}) <= 1


def nonce_of(request: Request) -> str:
    found = NONCE.search(request.messages[0]["content"])
    assert found is not None
    return found[1]


@pytest.mark.attack("model", "text that gives the judge orders", "it is flagged beside the score")
def test_most_attacks_are_flagged_and_honest_texts_are_not() -> None:
    flagged = sum(bool(suspected([("answer", one.text)])) for one in INJECTIONS)
    assert flagged >= 75
    honest = (
        "The answer is yes.", "Answer: yes, in 1937.", "Respondents could answer yes or no to each question.",
        "Sí, la respuesta es yes en inglés.", "Die Befragten antworteten mit ja.", "她回答说：是的。", "الجواب: نعم.",
    )  # fmt: skip
    assert not [text for text in honest if suspected([("answer", text)])]
