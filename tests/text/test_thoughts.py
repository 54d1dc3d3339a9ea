"""What is a thought before an answer, and what only looks like one."""

import pytest

from metrics.text.thoughts import Thoughts, split_all, split_thoughts

HARMONY = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Paris"
THOUGHTS = {
    "tags": ("<think>\nHm.\n</think>\n\nParis", "Hm.", "Paris"),
    "other tags": ("<Thinking>Hm.</Thinking> <answer>Paris</answer>", "Hm.", "Paris"),
    "Granite": ("<think>Hm.</think><response>Paris</response>", "Hm.", "Paris"),
    "Granite in words": ("Here is my thought process: Hm.\n\nHere is my response: Paris", "Hm.", "Paris"),
    "Qwen, without thoughts": ("<think>\n\n</think>\n\nParis", "", "Paris"),
    "several blocks": ("<think>Hm.</think>\n<think>So.</think>Paris", "Hm.\nSo.", "Paris"),
    "a quoted mark inside": ("<think>I close with `</think>`.</think>Paris", "I close with `</think>`.", "Paris"),
    "Magistral": ("[THINK]Hm.[/THINK]Paris", "Hm.", "Paris"),
    "Seed": ("<seed:think>Hm.</seed:think>Paris", "Hm.", "Paris"),
    "Kimi": ("◁think▷Hm.◁/think▷Paris", "Hm.", "Paris"),
    "Gemma": ("<|channel>thought\nHm.<channel|>Paris", "Hm.", "Paris"),
    "Command A": ("<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Paris<|END_RESPONSE|>", "Hm.", "Paris"),
    "solutions": (
        "<|begin_of_thought|>Hm.<|end_of_thought|>\n<|begin_of_solution|>Paris<|end_of_solution|>", "Hm.", "Paris",
    ),
    "harmony": (HARMONY, "Hm.", "Paris"),
    "harmony, ended": (f"<|start|>assistant{HARMONY}<|return|>", "Hm.", "Paris"),
    "harmony without its marks": ("analysisHm.assistantfinalParis", "Hm.", "Paris"),
    "a closing tag alone": ("Hm.\n</think>\n\nParis", "Hm.", "Paris"),
    "a closing tag in the line": ("It may be Lyon.</think>Paris", "It may be Lyon.", "Paris"),
    "a closing tag after a sentence": ("It may be Lyon. </think> Paris", "It may be Lyon.", "Paris"),
    "a closing tag at the beginning": ("</think>\n\nParis", "", "Paris"),
    "Magistral's alone": ("Hm.\n[/THINK]Paris", "Hm.", "Paris"),
    "what a prompt asks for": ("<scratchpad>Hm.</scratchpad>\nParis", "Hm.", "Paris"),
    "Ollama's terminal": ("Thinking...\nHm.\n...done thinking.\n\nParis", "Hm.", "Paris"),
    "Ollama's terminal in grey": ("\x1b[90mThinking...\nHm.\n…done thinking.\n\x1b[0m\nParis", "Hm.", "Paris"),
    "Apriel": ("Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]Paris[END FINAL RESPONSE]", "Hm.", "Paris"),
    "folded": ("<details open>\n<summary>Thought for 3 s</summary>\nHm.\n</details>\n\nParis", "Hm.", "Paris"),
    "a fence": ("```thinking\nHm.\n```\nParis", "Hm.", "Paris"),
    "in brackets": ("[reasoning]Hm.[/reasoning] Paris", "Hm.", "Paris"),
    "escaped": ("&lt;think&gt;Hm.&lt;/think&gt;\nParis", "Hm.", "Paris"),
    "full width": ("＜think＞Hm.＜/think＞Paris", "Hm.", "Paris"),
    "with bars": ("<|thinking|>Hm.<|/thinking|>Paris", "Hm.", "Paris"),
    "a monologue": ("<inner_monologue>Hm.</inner_monologue><solution>Paris</solution>", "Hm.", "Paris"),
    "a tag within": ("<think>So <think>Hm.</think> yes</think>Paris", "So <think>Hm.</think> yes", "Paris"),
    "closed twice": ("Hm.\n</think>\n</think>\nParis", "Hm.", "Paris"),
    "the end of a turn": ("<think>Hm.</think>Paris<|im_end|>", "Hm.", "Paris"),
    "an end mark alone": ("Paris<|im_end|>", "", "Paris"),
    "end marks": ("Paris</s>\n<｜end▁of▁sentence｜><|END_OF_TURN_TOKEN|>", "", "Paris"),
    "code after it": ("<think>Hm.</think>\n```python\nx = 1\n```", "Hm.", "```python\nx = 1\n```"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "thoughts", "answer"), THOUGHTS.values(), ids=THOUGHTS.keys())
def test_thoughts_before_an_answer(text, thoughts, answer):
    assert split_thoughts(text) == Thoughts(thoughts, answer)


@pytest.mark.parametrize("text", [
    "<think>Hm. It may be", "<|channel|>analysis<|message|>Hm. It may be", "[THINK]Hm. It may be",
    "<think>Hm.</think><think>Hm. It may be",
])  # fmt: skip
def test_thoughts_that_never_end_leave_no_answer(text):
    found = split_thoughts(text)
    assert found is not None
    assert (found.answer, found.cut, found.thoughts[-10:]) == (
        "",
        True,
        "It may be"[-10:].rjust(10, found.thoughts[-10]),
    )


@pytest.mark.parametrize("text", [
    "Paris", "", "Use </think> to close it.", "The tag `</think>` closes it.", 'It prints "</think>" at the end.',
    "Write:\n```html\n<think>\n</think>\n```", "Models write <think>Hm.</think> first.", "`<think>` opens it.",
    "```\n<think>Hm.</think>\n```", "<analysis>All of it.</analysis>", "analysis of the assistantfinal part",
    "First:\n<think>\nHm.\n</think>\nthen go on.", "Here is my thought process: I like it.",
    "a\n</think>\nb\n</think>\nc", "<thinker>Hm.</thinker>Paris", "I <b>think</b>.",
    "Thinking... is hard.", "It is <s>Lyon</s>", "Say `</s>`", "It ends in </s>.", "Thought: Hm.\nFinal Answer: Paris",
    "<details><summary>More</summary>Hm.</details>Paris", "<plan>All of it.</plan>",
])  # fmt: skip
def test_what_is_quoted_or_in_the_middle_is_no_thought(text):
    assert split_thoughts(text) is None


HABITS = {
    "a first line": ("Sure.\n<think>Hm.</think>\nParis", "Sure.\nParis"),
    "ReAct": ("Thought: Hm.\nFinal Answer: Paris", "Paris"),
    "bold": ("**Thinking:** Hm. **Answer:** Paris<eos>", "Paris"),
    "headings": ("### Reasoning:\nHm.\n\n### Final answer:\nParis", "Paris"),
}


@pytest.mark.parametrize(("text", "answer"), HABITS.values(), ids=HABITS.keys())
def test_thoughts_by_the_habit_of_a_file(text, answer):
    assert split_all([text, text, "Paris", "Rome"], 4) == [Thoughts("Hm.", answer)] * 2 + [None] * 2
    assert not any(own and own.thoughts for own in split_all([text, "Paris", "Rome"], 3))
