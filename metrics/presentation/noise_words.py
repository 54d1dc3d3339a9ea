"""Where the noise of a mean comes from, in words: the same in pages and reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from metrics.presentation.format import count, number, plural

if TYPE_CHECKING:
    from metrics.analysis import ModelNoise, Noise
    from metrics.stats.variance_components import Plan

BETWEEN = {"cases": "between cases", "repeats": "between repeats", "draws": "between replies of the judge"}
TWICE = {"repeats": "twice as many answers of each case", "draws": "twice as many replies of the judge"}
LEARN_REPEATS = (
    "No case was answered twice, so the noise of the model cannot be told from that of the cases. To learn it, let the "
    "model answer 20 cases three times: rows with run 1, 2 and 3 (column run)."
)
LEARN_DRAWS = (
    "The judge was asked once. To learn its noise, ask it three times: --judge-repeats 3 with a temperature above 0."
)
GROUPED = "Cases of a group are counted together, as they are not independent."


def noise_sentence(found: Noise, title: str) -> str:
    """Return how much of the noise comes from where and what helps; "" where only the cases are known."""
    shares = found.shares
    prompts = prompt_sentence(found)
    if not shares:
        return f"In {title}: {prompts}" if prompts else ""
    parts = ", ".join(
        f"{100 * share:.0f} %{' of the noise is' if not place else ''} {BETWEEN[source]}"
        for place, (source, share) in enumerate(shares.items())
    )
    most = max(shares, key=lambda source: shares[source])
    helps = "more cases help most"
    if most != "cases":
        narrower = (f"{100 * (1 - math.sqrt(1 - share / 2)):.0f} %" for share in (1.0, shares[most]))
        helps = f"twice as many cases narrow the interval by {next(narrower)}, {TWICE[most]} by {next(narrower)}"
    return " ".join(filter(None, [f"In {title}, {parts}: {helps}.", prompts]))


def prompt_sentence(found: Noise) -> str:
    """Return what other wordings of the prompt would add to the doubt of the means, or why it is not known."""
    known = {one.model: one.prompts for one in found.models if one.prompts is not None}
    told = [(model, one.half_width, one) for model, one in known.items() if one.half_width is not None]
    if not told:
        why = next((one.reason for one in known.values()), None)
        return f"Noise of the prompt is not known: {why}." if why else ""
    model, half, one = max(told, key=lambda each: each[1])
    return (
        f"With other wordings of the prompt, too, the mean of {model} is known to ± {number(half)}: "
        f"{100 * (one.share or 0.0):.0f} % of that variance is between the {one.variants} prompt variants "
        f"({plural(one.cases, 'case')} under each)."
    )


def lessons(found: Noise) -> list[str]:
    """Return what is not known about the noise, and how to learn it."""
    known = {source for one in found.models for source in one.shares}
    needs = max((one.needs for one in found.models), default=0)
    told = [] if "repeats" in known else [LEARN_REPEATS]
    told += [LEARN_DRAWS] if found.judged and "draws" not in known else []
    told += [f"Too few cases are repeated to tell shares: {plural(needs, 'more case')} with repeats."] if needs else []
    return [*told, GROUPED] if found.grouped else told


def plan_words(plan: Plan, one: ModelNoise) -> str:
    """Return a plan as `400 cases × 2 repeats × 3 draws`, a source that is not known being left out."""
    known: Mapping[str, int] = {"repeats": plan.repeats, "draws": plan.draws}
    more = [plural(number, name[:-1]) for name, number in known.items() if name in one.shares]
    return " × ".join([plural(plan.cases, "case"), *more])


def cost_words(plan: Plan, one: ModelNoise) -> str:
    """Return what a plan costs: `$12.40`, or `800 answers` where no prices are known."""
    if one.priced:
        return f"${plan.cost:,.2f}" if plan.cost >= 0.01 else f"${plan.cost:.2g}"
    return count(round(plan.cost))
