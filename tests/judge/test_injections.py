"""The suite of injections, ten families in five languages, against every prompt: they stay data between delimiters."""

import asyncio
import re

import pytest

from metrics.core.prompt import Prompt
from metrics.core.registry import evaluators
from metrics.judge.injection import suspected
from metrics.judge.typical_reply import typical_reply
from tests.judge.attacks import ATTACKS, INJECTIONS
from tests.judge.judging import STAND_INS
from tests.judge.scripted import ScriptedJudge
from tests.judge.server import Request
from tests.judge.test_injection import FACTS, GUESS, JUDGED
from tests.random_seeds import LONG

NONCE = re.compile(r"<NAME ([0-9a-f]{12,})>")
LANGUAGES = ("en", "de", "es", "zh", "ar")
PROMPTS = {prompt.id: prompt for entry in evaluators().values() for prompt in entry.prompts}
ALL = [one.text.replace("NONCE", "0" * 32) for one in INJECTIONS] + list(ATTACKS.values())


def split(request: Request) -> tuple[str, list[str]]:
    """What stands outside the data of a request, and the blocks of data, found from outside: by the frame's nonce."""
    system, user = (message["content"] for message in request.messages[:2])
    found = NONCE.search(system)
    block = re.compile(rf"<(\w+) {found[1]}>\n(.*?)\n</\1 {found[1]}>", re.DOTALL)
    return block.sub("", user).strip(), [match[2] for match in block.finditer(user)]


@pytest.mark.parametrize("prompt", [pytest.param(prompt, id=prompt.id) for prompt in PROMPTS.values()])
@pytest.mark.attack("model", "ten families of injections in five languages", "each stays within its block of data")
def test_every_attack_stays_in_its_block(prompt):
    """Two blocks come out, with all of the attacks, as one text and as a list, and nothing else."""
    sent = Request({"messages": prompt.messages({"TEXT": "\n".join(ALL), "ITEMS": ALL})}, {})
    outside, blocks = split(sent)
    assert (outside, blocks[0]) == (prompt.text.strip(), "\n".join(ALL))
    numbers = [line.partition("]")[0][1:] for line in blocks[1].splitlines() if line.startswith("[")]
    assert numbers == [str(number) for number in range(1, len(ALL) + 1)]


def test_every_attack_alone_stays_in_its_block():
    for attack in ALL:
        _, blocks = split(Request({"messages": Prompt("p", "Is it?").messages({"ITEMS": ["first", attack]})}, {}))
        assert [line[:4] for line in blocks[0].splitlines() if line.startswith("[")] == ["[1] ", "[2] "]


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in JUDGED])
def test_outside_the_data_stand_declared_prompts_alone(entry):
    """With all attacks of a language, and those on the structure of a request, in every text of the case at once."""
    declared = {prompt.text.strip() for prompt in entry.prompts}
    told: list[Request] = []
    for kind in (*(LANGUAGES if LONG else [LANGUAGES[len(entry.id) % 5]]), "structure"):
        own = ATTACKS.values() if kind == "structure" else [one.text for one in INJECTIONS if one.language == kind]
        attacks = "\n".join(["", *own]).replace("NONCE", GUESS)
        case = FACTS._replace(
            question=f"{FACTS.question}{attacks}", answer=f"{FACTS.answer}{attacks}",
            source_text=f"{FACTS.source_text}{attacks}",
            retrieved_contexts=tuple(f"{text}{attacks}" for text in FACTS.retrieved_contexts),
            expected_answers=tuple(f"{text}{attacks}" for text in FACTS.expected_answers),
        )  # fmt: skip
        judge = ScriptedJudge(lambda request: typical_reply(request.schema or {}, request.messages), room=1_000_000)
        others = {name: STAND_INS[name] for name in entry.needs if name != "judge"}
        asyncio.run(entry(case, entry.parameters(), judge=judge, **others))
        told += judge.calls
    assert {split(request)[0] for request in told} <= declared
    assert len({re.sub("[0-9a-f]{32}", "", request.messages[0]["content"]) for request in told}) <= 1


@pytest.mark.attack("model", "text that gives the judge orders", "it is flagged beside the score")
def test_most_attacks_are_flagged_and_honest_texts_are_not():
    flagged = sum(bool(suspected([("answer", one.text)])) for one in INJECTIONS)
    assert flagged >= 75
    honest = (
        "The answer is yes.", "Answer: yes, in 1937.", "Respondents could answer yes or no to each question.",
        "Sí, la respuesta es yes en inglés.", "Die Befragten antworteten mit ja.", "她回答说：是的。", "الجواب: نعم.",
    )  # fmt: skip
    assert not [text for text in honest if suspected([("answer", text)])]
