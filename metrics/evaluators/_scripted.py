"""Worked examples of a judge: its replies (claims, which texts support each, verdicts on items), and the value."""

from collections.abc import Mapping
from typing import Any

from metrics.core.evaluator import Example, ScriptedReply


def example_of(
    metric: str, name: str, given: Mapping[str, Any], value: float, *judge: ScriptedReply, **parameters: Any
) -> Example:
    """Return the example of the one value that a metric has with these replies and parameters."""
    return Example(name, given, {metric: value}, judge=judge, parameters=parameters)


def claims_reply(*claims: str, text: str = "") -> ScriptedReply:
    """Return the claims that the judge lists of any text, or of the one that contains `text`."""
    return ScriptedReply("claims", {"claims": list(claims)}, {"TEXT": text} if text else {})


def entailment_reply(*supported_by: list[int], **about: str) -> ScriptedReply:
    """Return the numbers of the texts that support each claim; `about`: what CLAIMS or CONTEXTS contain."""
    return ScriptedReply("entailment", [{"supported_by": numbers} for numbers in supported_by], about)


def verdicts_reply(prompt: str, *verdicts: str, **about: str) -> ScriptedReply:
    """Return the verdict on each item that a prompt asks about; `about`: what its texts contain."""
    return ScriptedReply(prompt, [{"reason": "", "verdict": verdict} for verdict in verdicts], about)
