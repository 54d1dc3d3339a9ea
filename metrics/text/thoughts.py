"""What reasoning models write before their answer: thoughts between marks, and channels.

Only what leads an answer is a thought, and only between marks that models themselves write: a mark that is quoted, in
code or in the middle of prose, belongs to the answer.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

# marks of a thought: what opens it, what closes it. The opening one is often a part of the prompt and not of the answer
TAGS = (
    r"(?:antml:|seed:|redacted_|longcat_)?think(?:ing)?|thoughts?|reasoning(?:_content)?|inner_\w{5,9}|chain_of_thought"
)
LESS, MORE = r"(?:<|＜|&lt;)", r"(?:>|＞|&gt;)"
MARKS = (
    (rf"{LESS}\s?\|?(?:{TAGS})(?:\s[^<>]{{0,80}})?\|?{MORE}", rf"{LESS}\|?/\s?(?:{TAGS})\s?\|?{MORE}"),  # most models
    (r"\[(?:THINK(?:ING)?|REASONING)\]", r"\[/(?:THINK(?:ING)?|REASONING)\]"),  # Magistral
    (r"◁think▷", r"◁/think▷"),  # Kimi
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Command A
    (r"<\|channel>thought\b", r"<channel\|>"),  # Gemma 4
    (r"<unused94>thought\b", r"<unused95>"),  # MedGemma
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),  # Apertus
)
COLOUR = r"(?:\x1b\[[\d;]{0,9}m)*"  # of a terminal
WORDS = (  # words that are marks only where both are there
    (r"Here(?: is|['’]s) my thought process:", r"Here(?: is|['’]s) my response:"),  # Granite 3.2
    (r"Here are my reasoning steps:", r"(?=\[BEGIN FINAL RESPONSE\])"),  # Apriel
    (rf"{COLOUR}Thinking(?:\.\.\.|…){COLOUR}", rf"(?:\.\.\.|…)\s?done thinking\.?\s*{COLOUR}"),  # Ollama's terminal
    (r"<details[^<>]{0,200}>\s*<summary>[^<]{0,20}(?:think|thought|reason)[^<]{0,40}</summary>", r"</details>"),
    (r"```(?:think(?:ing)?|thoughts?|reasoning)[ \t]*\n", r"\n```"),
)
BLOCKS = tuple(
    (re.compile(rf"\s*{opening}", re.IGNORECASE), re.compile(rf"(?<!`){closing}(?!`)", re.IGNORECASE))
    for opening, closing in (*MARKS, *WORDS)
)
OPENING = re.compile("|".join(opening for opening, _ in MARKS), re.IGNORECASE)
CLOSE = "|".join(rf"(?<!`){closing}(?!`)" for _, closing in MARKS)
CLOSING = re.compile(rf"(?:{CLOSE})(?:\s{{0,9}}(?:{CLOSE})){{0,9}}", re.IGNORECASE)
# tags that prompts ask for: thoughts only where an answer follows them
ASKED_TAGS = re.compile(r"(?is)\s*<(analysis|scratchpad|reflection|plan|internal|cot)>(.*?)</\1>(?=\s*\S)")
# a message in the harmony format: its channel, and its text
HARMONY = re.compile(
    r"<\|channel\|>((?:[^<]|<\|constrain\|>){0,200})<\|message\|>(.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
BEGINS_HARMONY = re.compile(r"\s*(?:<\|start\|>\w{0,20})?<\|channel\|>")
BARE_HARMONY = re.compile(r"\s*analysis(?=[A-Z\d\"'(])")  # where its special tokens were left out
BARE_FINAL = "assistantfinal"
# around an answer after its thoughts
AROUND = re.compile(
    r"\s*(?:<(answer|response|output|solution|final_answer)>(.*)</\1>|<\|begin_of_solution\|>(.*)<\|end_of_solution\|>|"
    r"<\|START_RESPONSE\|>(.*)<\|END_RESPONSE\|>|\[BEGIN FINAL RESPONSE\](.*)\[END FINAL RESPONSE\])\s*",
    re.IGNORECASE | re.DOTALL,
)
# of the end of a turn; `</s>` not where `<s>` strikes text out
STOPS = re.compile(
    r"(?:\s{0,9}(?:<[|｜](?:im_end|eo[tm](?:_id)?|end(?:[_▁]?of[_▁]?(?:text|turn|sentence)(?:_token)?)?|return)[|｜]>|</s>"
    r"|<end_of_turn>|<turn\|>|<eos>)){1,99}\s{0,99}\Z",
    re.IGNORECASE,
)
# what leads an answer only by the habit of a file: marks after a first line, and words such as ReAct's
HABITS = (
    re.compile(
        rf"(?is)\s*(?P<lead>[^\s<`][^\n<`]{{0,79}}\n)\s*(?:{OPENING.pattern})(?P<thought>.*?)(?:{CLOSE})(?P<answer>.+)"
    ),
    re.compile(
        r"(?is)\s*(?P<lead>)[*_#]{0,4}\s?(?:thoughts?|thinking|reasoning)[*_]{0,2}\s?:(?P<thought>.*)"
        r"(?:\n\s{0,9}[*_#]{0,4}\s?(?:final )?|\s\*\*(?:final )?|\sfinal )answer[*_]{0,2}\s?:[*_]{0,2}(?P<answer>.+)"
    ),
)
FEWEST, SHARE = 2, 0.5  # answers of a file that make a habit
MAX_BLOCKS = 50  # of thoughts, one after the other
SENTENCE_ENDS = ".!?…:;)]}。！？\"'”*`"
FENCE = re.compile(r"^\s{0,3}(?:```|~~~)", re.MULTILINE)


class Thoughts(NamedTuple):
    """An answer without its thoughts. `cut`: the thoughts never came to an end, so there is no answer."""

    thoughts: str
    answer: str
    cut: bool = False


def split_thoughts(text: str) -> Thoughts | None:
    """Return a text's leading thoughts, and the answer after them; None where it begins with none.

    >>> split_thoughts("<think>It may be 4.</think> 5")
    Thoughts(thoughts='It may be 4.', answer='5', cut=False)
    """
    if BEGINS_HARMONY.match(text):
        return _channels(text)
    if (bare := BARE_HARMONY.match(text)) and BARE_FINAL in text:
        thought, _, answer = text[bare.end() :].partition(BARE_FINAL)
        return Thoughts(thought.strip(), answer.strip())
    thoughts: list[str] = []
    rest = text.lstrip("\ufeff")
    for _ in range(MAX_BLOCKS):
        if (block := _leading_block(rest)) is None:
            break
        thoughts.append(block[0])
        if block[1] is None:
            return Thoughts("\n".join(thoughts).strip(), "", cut=True)
        rest = block[1]
    if not thoughts:
        end = _closing_alone(rest)
        if end is None:
            ended = STOPS.search(rest)
            struck = ended is None or ("</s>" in ended[0] and "<s>" in rest)
            return None if ended is None or struck else Thoughts("", rest[: ended.start()].strip())
        thoughts, rest = [rest[: end.start()].strip()], rest[end.end() :]
    rest = STOPS.sub("", rest)
    around = AROUND.fullmatch(rest)
    answer = next(part for part in around.groups()[1:] if part is not None) if around else rest
    return Thoughts("\n".join(filter(None, thoughts)), answer.strip())


def split_all(texts: Sequence[str | None], total: int) -> list[Thoughts | None]:
    """Return split_thoughts of some of a file's `total` answers, and thoughts that only a habit of most of them tells.

    >>> split_all(["Thought: I know it.\\nFinal Answer: Paris", "Thought: Hm.\\nFinal Answer: Rome"], 2)[0]
    Thoughts(thoughts='I know it.', answer='Paris', cut=False)
    """
    split = [None if text is None else split_thoughts(text) for text in texts]
    plain = ("" if own and own.thoughts else STOPS.sub("", text or "") for text, own in zip(texts, split, strict=True))
    led = [next(filter(None, (habit.fullmatch(text) for habit in HABITS)), None) for text in plain]
    if len([*filter(None, led)]) < max(FEWEST, SHARE * total):
        return split
    parts = [each and (each["thought"].strip(" \t\n*_#"), each["lead"] + each["answer"].strip()) for each in led]
    return [Thoughts(*part) if part else own for own, part in zip(split, parts, strict=True)]


def _leading_block(text: str) -> tuple[str, str | None] | None:
    """Return the thought that a text begins with, and what follows, None where it never ends; None without one."""
    marks = ((found, opening, closing) for opening, closing in BLOCKS if (found := opening.match(text)))
    if (first := next(marks, None)) is None:
        asked = ASKED_TAGS.match(text)
        return asked and (asked[2].strip(), text[asked.end() :])
    begin, opening, closing = first
    end = closing.search(text, begin.end())
    if end is None:  # words alone are no mark
        return None if (opening, closing) in BLOCKS[len(MARKS) :] else (text[begin.end() :].strip(), None)
    for _ in opening.finditer(text, begin.end(), end.start()):  # within the thought
        end = closing.search(text, end.end()) or end
    return text[begin.end() : end.start()].strip(), text[end.end() :]


def _channels(text: str) -> Thoughts | None:
    parts = [(header.split()[:1], content.strip()) for header, content in HARMONY.findall(text)]
    if not parts:
        return None
    finals = [content for channel, content in parts if channel == ["final"]]
    others = [content for channel, content in parts if channel != ["final"]]
    return Thoughts("\n".join(filter(None, others)), "\n".join(finals), cut=not finals)


def _closing_alone(text: str) -> re.Match[str] | None:
    """Return the only mark of a text, which closes thoughts that the prompt opened; None where it may be quoted."""
    found = list(CLOSING.finditer(text))
    if len(found) != 1:
        return None
    before, after = text[: found[0].start()], text[found[0].end() :]
    quoted = before.rpartition("\n")[2].count("`") % 2 or (before[-1:] and before[-1:] in "\"'“‘(")
    if quoted or len(FENCE.findall(before)) % 2 or OPENING.search(before):
        return None
    alone = not before.strip() or before.rstrip(" \t")[-1:] in "\n" + SENTENCE_ENDS
    joined = before[-1:].isalnum() or after[:1].isalnum()
    return found[0] if alone or joined or after.lstrip(" \t")[:1] == "\n" else None
