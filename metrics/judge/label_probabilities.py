"""The probabilities of a judge's labels: read from the tokens of its reply, and kept with each reply.

A label is a value that the judge chooses: one of a few words, a whole number of a scale, true or false. A list of
numbers (the contexts that support a claim) counts as "yes" where it has any and as "no" where it is empty.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel

from metrics.core.rounding import exact_sum
from metrics.judge.asking import Reply, schema_of
from metrics.judge.reply_text import THOUGHTS

ALTERNATIVES = 20  # likeliest tokens that are asked for at each place; no provider gives more
CERTAIN = 0.9  # of the probability at a label must belong to the labels for their shares to count
LISTED = ("yes", "no")  # the labels of a list of numbers: it has some, it is empty
ENDS = re.compile(r"[\"\s,}\]]")

Shares = Mapping[str, float]  # label → probability


class Token(NamedTuple):
    """A token of a reply: its bytes, its log-probability, and those of the likeliest tokens in its place."""

    text: bytes
    logprob: float
    others: tuple[tuple[bytes, float], ...]


def label_text(value: Any) -> str:
    """Return a label as text: "yes", "3", "true"."""
    return value if isinstance(value, str) else json.dumps(value)


def item_form(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the schema of an item where the reply is one list of items with ids; else None."""
    properties = schema.get("properties", {})
    if len(properties) != 1:
        return None
    items = next(iter(properties.values())).get("items", {})
    form: Mapping[str, Any] = schema.get("$defs", {}).get(str(items.get("$ref", "")).rpartition("/")[2], items)
    return form if "id" in form.get("properties", {}) else None


def choices(form: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the labels of each field of a flat reply that is a choice, in the order of the fields."""
    found = {}
    for name, field in form.get("properties", {}).items():
        if "enum" in field:
            found[name] = tuple(map(label_text, field["enum"]))
        elif field.get("type") == "boolean":
            found[name] = ("true", "false")
        elif field.get("type") == "array" and field.get("items", {}).get("type") == "integer":
            found[name] = LISTED
    return found


def keep_shares(reply: BaseModel, shares: Sequence[Shares]) -> None:
    """Hand the shares of all labels of a reply, in their order, to the reply or its items.

    Nothing is kept where they are not exactly one for each label, each about that field's labels.
    """
    listed = getattr(reply, "replies", None)
    entries = [entry for entry in listed if isinstance(entry, Reply)] if isinstance(listed, list) else [reply]
    if not entries or not isinstance(entries[0], Reply):
        return
    fields = _fields(type(entries[0]))
    if not fields or len(shares) != len(fields) * len(entries):
        return
    for place, entry in enumerate(entries):
        own = dict(zip(fields, shares[place * len(fields) :], strict=False))
        if isinstance(entry, Reply) and all(set(own[name]) == set(labels) for name, labels in fields.items()):
            entry._shares = own


@lru_cache(maxsize=256)
def _fields(form: type[BaseModel]) -> dict[str, tuple[str, ...]]:
    return choices(schema_of(form))


def tokens_of(logprobs: Any) -> list[Token]:
    """Return the tokens in the `logprobs` of a chat completion; none where they are not as documented."""
    try:
        return [
            Token(
                _bytes(entry),
                _logprob(entry),
                tuple((_bytes(one), _logprob(one)) for one in entry.get("top_logprobs") or ()),
            )
            for entry in logprobs["content"]
        ]
    except (AttributeError, TypeError, KeyError, ValueError, OverflowError):
        return []


def _bytes(token: Mapping[str, Any]) -> bytes:
    given = token.get("bytes")
    return bytes(given) if isinstance(given, list) else str(token["token"]).encode("utf-8", "replace")


def _logprob(token: Mapping[str, Any]) -> float:
    found = float(token["logprob"])
    if not found <= 1e-6:  # not a number, or the logarithm of more than 1
        raise ValueError("no logarithm of a probability")
    return min(found, 0.0)


def shares_of(text: str, tokens: Sequence[Token], schema: Mapping[str, Any]) -> tuple[dict[str, float], ...]:
    """Return the probability of each label at each label that a reply states, in their order.

    At each token of the label the probability of every alternative goes to the label that it leads to, if only one
    begins so ("y" of yes and no); the shares are normalised over the labels. Nothing is returned unless every label of
    the reply can be read so: the tokens make up the text, and the labels have CERTAIN of the probability.
    """
    fields = choices(item_form(schema) or schema)
    written = text.encode("utf-8", "replace")
    if not fields or b"".join(token.text for token in tokens) != written:
        return ()
    found = []
    turn = list(fields)
    for number, (name, begins) in enumerate(_places(text, turn)):
        if name != turn[number % len(turn)]:
            return ()  # fields in another order, or one is missing
        shares = _at(tokens, len(text[:begins].encode("utf-8", "replace")), fields[name])
        if shares is None:
            return ()
        found.append(shares)
    return tuple(found) if len(found) % len(turn) == 0 else ()


def _places(text: str, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the fields' names and where their values begin (after the colon), in the order of the text."""
    thoughts = THOUGHTS.match(text)
    key = re.compile(rf'(?<!\\)"({"|".join(map(re.escape, names))})"\s*:')
    for found in key.finditer(text, thoughts.end() if thoughts else 0):
        yield found[1], found.end()


def _at(tokens: Sequence[Token], begins: int, labels: Sequence[str]) -> dict[str, float] | None:
    """Return the shares of the labels of the value from byte `begins` on; None where they are not certain."""
    found = dict.fromkeys(labels, 0.0)
    so_far, path, offset = b"", 1.0, 0  # the value up to this token, its probability, where the token begins
    for token in tokens:
        skipped = max(0, begins - offset)  # bytes of the token that stand before the value
        offset += len(token.text)
        if offset <= begins:
            continue
        for text, logprob in token.others:
            if text != token.text and text[:skipped] == token.text[:skipped]:
                leads_to = _possible(so_far + text[skipped:], labels)
                if len(leads_to) == 1:
                    found[leads_to[0]] += path * math.exp(logprob)
        so_far += token.text[skipped:]
        path *= math.exp(token.logprob)
        leads_to = _possible(so_far, labels)
        if len(leads_to) == 1:
            found[leads_to[0]] += path
        if len(leads_to) <= 1:
            break
    total = exact_sum(found.values())
    return {name: share / total for name, share in found.items()} if CERTAIN <= total <= 1.01 else None


def _possible(beginning: bytes, labels: Sequence[str]) -> list[str]:
    """Return the labels whose JSON can begin so; case does not matter."""
    value = beginning.decode("utf-8", "ignore").lstrip().casefold()
    if value.startswith("[") and labels == LISTED:
        value = value[1:].lstrip()
        begins = zip(LISTED, (value[:1].isdigit(), value[:1] == "]"), strict=True)
        return [label for label, first in begins if first or not value]
    value = value.removeprefix('"')
    return [
        label
        for label, whole in zip(labels, map(str.casefold, labels), strict=True)
        if whole.startswith(value) or (value.startswith(whole) and ENDS.match(value, len(whole)))
    ]
