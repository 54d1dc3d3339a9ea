"""What stands beside a judge's numbers: who judged, prompts and replies, costs, suspected prompt injection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from metrics.core.rounding import exact_sum
from metrics.presentation.format import MISSING, STATUSES, count, duration, number, plural, rough
from metrics.presentation.judge_notes import quotes_text, reading_text, time_text
from metrics.presentation.panel_rows import short_names

if TYPE_CHECKING:
    import pandas as pd

    from components.data import Estimate
    from components.data.judge_settings import RunJudges

QUOTES_HELP = (
    "The judge quotes the words of a context that its verdict rests on; these quotes are not in the context that it "
    "names. The score is as it says, but check those verdicts."
)
SCORED = "ok"
NAMED = 4  # evaluators named before "and 3 more"
PLACES = {"retrieved_contexts": "retrieved context", "expected_answers": "expected answer", "citations": "citation"}


def dollars(amount: float | None) -> str:
    """Return a sum of money: `$0.0042`, `$1.20`; in words if it is unknown."""
    if amount is None or amount != amount:
        return "price unknown"
    if amount >= 1 or not amount:
        return f"${amount:,.2f}"
    return f"${amount:.2g}" if amount >= 1e-4 else "less than $0.0001"


def estimate_line(estimate: Estimate | str) -> str:
    """Return what judging would take in a line: `about 240 judge calls, $0.12`."""
    if isinstance(estimate, str):
        return f"no estimate: {estimate}"
    calls = plural(estimate.calls, "judge call")
    return f"about {calls}, {dollars(estimate.usd)}" if estimate.calls else "no judge call: the cache has every reply"


def estimate_lines(estimate: Estimate | str) -> list[str]:
    """Return what a run would ask, in lines: calls, and how many the cache answers; tokens; dollars."""
    if isinstance(estimate, str):
        return [f"No estimate: {estimate}"]
    calls, cached = estimate.calls, estimate.cached
    none = "No judge call: the cache has every reply" if estimate.judges else "No judge calls"
    lines = [f"About {plural(calls, 'judge call')}" if calls else none]
    if cached and calls:
        lines[0] += f"; the cache has {count(cached)} more"
    if calls:
        tokens = rough(estimate.prompt_tokens + estimate.completion_tokens)
        lines.append(f"About {plural(tokens, 'token')} · {dollars(estimate.usd)}")
    for time, judge in ((estimate.local, "the local judge"), (estimate.hosted, "the judge")):
        if time and calls:
            words = time_text(time, judge)
            lines.append(f"{words[0].upper()}{words[1:]}.")
    lines += [f"{line}." for line in estimate.reused]
    if estimate.walked < estimate.cases:
        lines.append(f"Estimated from {count(estimate.walked)} of {plural(estimate.cases, 'case')}.")
    return lines


def budget_line(estimate: Estimate | str, budget: Mapping[str, Any]) -> str:
    """Return that the budget is below the estimate and for how much of the judging it is enough; "" where it is not."""
    if isinstance(estimate, str):
        return ""
    needs: dict[str, float | None] = {
        "usd": estimate.usd,
        "calls": estimate.calls,
        "tokens": estimate.prompt_tokens + estimate.completion_tokens,
    }
    limits = {name: budget[name] for name in needs if budget.get(name) is not None}
    enough = {name: limit / need for name, limit in limits.items() if (need := needs[name]) and limit < need}
    if not enough:
        return ""
    name = min(enough, key=enough.__getitem__)
    most, takes = (
        dollars(number) if name == "usd" else f"{count(int(number))} {name}"
        for number in (limits[name], needs[name] or 0)
    )
    share = f"{enough[name]:.0%}".replace("%", " %")
    return (
        f"The budget of {most} is below the estimated {takes}: enough for about {share} of the judging. The rest is "
        "skipped."
    )


def cost_line(judge: str, calls: Sequence[Mapping[str, Any]]) -> str:
    """Return who judged, in how many replies, at what cost: `Judged by gpt-4o-mini · 4 replies, 3 from the cache · …`.

    Tokens and dollars are those of replies that were not cached.
    """
    if not calls:
        return f"Judged by {judge}"
    cached = sum(bool(call["cached"]) for call in calls)
    replies = plural(len(calls), "reply", "replies")
    parts = [f"Judged by {judge}", replies + (f", {cached} from the cache" if cached else "")]
    paid = [call for call in calls if not call["cached"]]
    if tokens := sum(call["tokens"] or 0 for call in paid):
        parts.append(plural(tokens, "token"))
    if paid:
        prices = [call["cost_usd"] for call in paid]
        parts.append(dollars(None if None in prices else exact_sum(prices)))
    if failed := sum(call["error"] is not None for call in calls):
        parts.append(f"{failed} could not be read")
    return " · ".join(parts)


def panel_table(judges: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the values of each judge of a panel; where one has none, also status and reason of each."""
    import pandas as pd

    named = short_names({judge["judge"] for judge in judges})
    scored = all(judge["status"] == SCORED for judge in judges)
    rows = [
        {"judge": named[judge["judge"]]}
        | {name: number(value) for name, value in judge["values"].items()}
        | {"status": STATUSES.get(judge["status"], judge["status"]), "reason": judge["reason"] or ""}
        for judge in judges
    ]
    return pd.DataFrame(rows).drop(columns=["status", "reason"] if scored else [], errors="ignore")


def call_table(calls: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the replies as a table: step, origin, tokens, cost, time."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "step": call["step"],
                "judge": call["judge"],
                "from": "failed" if call["reply"] is None else "the cache" if call["cached"] else "asked now",
                "tokens": MISSING if call["tokens"] is None else f"{call['tokens']:,}",
                "cost": dollars(call["cost_usd"]),
                "time": duration(call["seconds"]),
                "problem": call["error"] or "",
            }
            for call in calls
        ]
    )


def suspicions(judges: Iterable[Mapping[str, Any]]) -> list[Mapping[str, str]]:
    """Return the suspected injections in a case that its scores report, each once."""
    found = [entry for judge in judges for entry in judge.get("suspected_injection") or []]
    return list({tuple(entry.values()): entry for entry in found}.values())


def suspicion_lines(found: Sequence[Mapping[str, str]]) -> list[str]:
    """Return suspected injections, a line each: kind, text and places."""
    places: dict[tuple[str, str], list[str]] = {}
    for entry in found:
        name, _, place = entry["where"].partition(" ")
        where = f"{PLACES.get(name, name.replace('_', ' '))} {place}".strip()
        places.setdefault((entry["what"], entry["text"]), []).append(where)
    return [f"{what}: “{text}” ({', '.join(where)})" for (what, text), where in places.items()]


def draw_suspicions(found: Sequence[Mapping[str, str]]) -> None:
    """Draw a warning that text of the case addresses the judge; nothing if none does."""
    if not found:
        return
    with st.container(border=True, gap="xsmall"):
        st.text(
            "⚠ Suspected injection: text of this case seems to address the judge, which saw it as data. "
            "Check the verdicts."
        )
        st.text("\n".join(suspicion_lines(found)))


def draw_calls(judge: Mapping[str, Any], key: str) -> None:
    """Draw who judged at what cost and, on demand, the prompts and the raw replies."""
    calls = judge["calls"]
    if "panel" in judge:
        if shown := next((one["judge"] for one in judge["panel"] if one["status"] == SCORED), None):
            st.text(f"The verdicts above are those of {shown}; the score combines all judges:")
        st.dataframe(panel_table(judge["panel"]), hide_index=True, height="content")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(cost_line(judge["model"], calls), width="stretch")
        opened = bool(calls) and st.toggle(
            "Replies", key=f"replies-{key}", help="What the judge was asked and replied."
        )
    quotes = judge.get("quotes") or {}
    if doubts := quotes_text(quotes.get("given", 0), quotes.get("not_found", 0)):
        st.text(f"⚠ {doubts}", help=QUOTES_HELP)
    if reading := reading_text(judge):
        st.text(reading, help="Texts longer than the judge's limit are split between sentences.")
    if not opened:
        return
    st.dataframe(call_table(calls), hide_index=True, height="auto" if len(calls) < 8 else 280)
    for index, call in enumerate(calls):
        prompt = judge["prompts"].get(call["step"])
        edited = f", wording of your own (sha256 {prompt['wording']})" if prompt and prompt["edited"] else ""
        with st.container(border=True, gap="xsmall"):
            st.text(f"{index + 1}. {call['step']}{edited}")
            if prompt:
                st.code(prompt["text"], language=None, wrap_lines=True)
            st.text("The reply" if call["reply"] is not None else "No reply")
            text = call["error"] if call["reply"] is None else call["reply"]
            st.code(text or "", language=None, wrap_lines=True, height="content" if len(text or "") < 600 else 220)


def spend_line(judges: Sequence[str], spend: Mapping[str, Any] | None, budget: Mapping[str, Any]) -> str:
    """Return who judges a run, the cost so far and the budget; empty for a run without a judge."""
    if not judges:
        return ""
    parts = [f"Judge {', '.join(judges)}"]
    if spend:
        parts += [
            _of(plural(spend["calls"], "call"), budget.get("calls"), count),
            f"{count(spend['cached'])} answered from the cache",
            _of(plural(spend["prompt_tokens"] + spend["completion_tokens"], "token"), budget.get("tokens"), count),
            _of(dollars(spend["usd"]), budget.get("usd"), dollars),
        ]
        if spend.get("left_out"):
            parts.append(f"asked without {', '.join(spend['left_out'])}, which the model does not take")
    return " · ".join(parts)


def run_line(judge: RunJudges) -> str:
    """Return who judged a run, which evaluators, at what cost, and what has no value because of it; empty without."""
    if not judge.judges:
        return ""
    titles = list(judge.evaluators.values())
    named = ", ".join(titles[:NAMED]) + (f" and {len(titles) - NAMED} more" if len(titles) > NAMED else "")
    spent = spend_line(judge.judges, judge.spend, {}).partition(" · ")[2]
    recorded = " (recorded replies)" if judge.recorded else ""
    parts = [f"Judged by {', '.join(judge.judges)}{recorded}: {named}", spent]
    parts += [f"{plural(judge.unreadable, 'reply', 'replies')} unreadable"] * bool(judge.unreadable)
    parts += [f"{plural(judge.skipped, 'case')} skipped"] * bool(judge.skipped)
    parts.append(quotes_text(*judge.quotes))
    return " · ".join(part for part in parts if part)


def _of(spent: str, most: Any, write: Callable[[Any], str]) -> str:
    return spent if most is None else f"{spent} of {write(most)}"
