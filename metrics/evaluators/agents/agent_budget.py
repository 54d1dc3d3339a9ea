"""Agent budget: what an agent spent on a case, and whether that was within the budget."""

import math
from typing import NamedTuple

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Status, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.suite import Case
from metrics.text.agents.traces import TraceError, steps_of

PREFIX = "budget_"  # of the columns with a case's own budget
OTHERS = ("system", "developer", "user", "tool")  # roles whose messages are no steps of the agent
NO_BUDGET = "no budget is set: by the parameters or by columns such as metadata.budget_tokens"


QUANTITIES = {
    "steps": "steps", "tool_calls": "tool calls", "tokens": "tokens", "cost_usd": "its cost", "seconds": "its duration",
}  # fmt: skip


class BudgetParameters(Parameters):
    """The budget of every case; a case's own goes first."""

    steps: int | None = Field(None, ge=0, description="Most steps; empty: no limit.")
    tool_calls: int | None = Field(None, ge=0, description="Most calls of tools; empty: no limit.")
    tokens: int | None = Field(None, ge=0, description="Most tokens; empty: no limit.")
    cost_usd: float | None = Field(None, ge=0, description="Most US dollars; empty: no limit.")
    seconds: float | None = Field(None, ge=0, description="Longest duration in seconds; empty: no limit.")


class _Spent(NamedTuple):
    """How much of a quantity was spent, None where that is not known, and its budget, None for none."""

    name: str
    used: float | None
    budget: float | None

    @property
    def is_within(self) -> bool | None:
        """Whether it is within its budget; None where either is unknown."""
        return None if self.used is None or self.budget is None else self.used <= self.budget


def _quantity(name: str, description: str, unit: str, title: str = "") -> Metric:
    return Metric.amount(name, description, unit=unit, title=title)


TRACE = (
    '{"steps": [{"role": "user", "text": "Book it."}, {"tool": "search"}, {"tool": "book"}, '
    '{"role": "assistant", "text": "Done."}]}'
)
SPENT = {"trace": TRACE, "tokens": 1_200, "cost_usd": 0.02, "duration_s": 8.5}


@evaluator(
    tasks=("agent", "text"),
    inputs=("trace",),
    instead={"trace": "tokens"},
    metrics=(
        Metric(
            "within_budget",
            "Share of cases in which every quantity with a budget is within it.",
            binary=True,
            primary=True,
        ),
        _quantity("steps", "Steps of the agent: calls of tools, reasoning and its messages.", "steps"),
        _quantity("tool_calls", "Calls of tools.", "calls"),
        _quantity("tokens", "Tokens that the output took.", "tokens"),
        _quantity("cost_usd", "What the output cost, in US dollars.", "USD", "Cost"),
        _quantity("seconds", "How long the output took, in seconds.", "s", "Duration"),
    ),
    sources=("OpenTelemetry GenAI conventions: usage and duration",),
    standards=("valid and reliable", "ongoing monitoring", "LLM10 unbounded consumption"),
    examples=(
        Example(
            "within every budget",
            SPENT,
            {"within_budget": 1.0, "steps": 3.0, "tool_calls": 2.0, "tokens": 1200.0, "cost_usd": 0.02, "seconds": 8.5},
            parameters={"steps": 3, "tool_calls": 2, "tokens": 2000, "cost_usd": 0.05, "seconds": 10},
        ),
        Example(
            "the case's own budget goes first, and its tokens are over",
            {**SPENT, "metadata": {"budget_tokens": "1000"}},
            {"within_budget": 0.0, "tokens": 1200.0},
            parameters={"tokens": 2000, "steps": 3},
        ),
        Example("no budget: only what was spent", SPENT, {"within_budget": None, "steps": 3.0, "cost_usd": 0.02}),
        Example(
            "what is over decides, what is unknown does not",
            {"trace": TRACE},
            {"within_budget": 0.0, "steps": 3.0, "tokens": None, "seconds": None},
            parameters={"steps": 2, "tokens": 100},
        ),
        Example(
            "an unknown quantity with a budget leaves it open",
            {"trace": TRACE},
            {"within_budget": None, "steps": 3.0, "tool_calls": 2.0},
            parameters={"steps": 3, "tokens": 100},
        ),
        Example(
            "without a trace the columns count",
            {"tokens": 50},
            {"within_budget": 1.0, "steps": None, "tokens": 50.0},
            parameters={"tokens": 50},
        ),
        Example(
            "the trace cannot be read", {"trace": "{"}, {"within_budget": 0.0, "steps": None}, status=Status.SKIPPED
        ),
        Example(
            "a budget that is no number", {"trace": TRACE, "metadata": {"budget_steps": "few"}}, status=Status.ERROR
        ),
    ),
    differs_from="rubric counts which calls were wasted; tool_calls compares them with expected ones. This one counts "
    "what was spent, right or wrong.",
    differs_from_source="The source names attributes of spans and defines no evaluator: what counts as a step, the "
    "budgets and the share of cases within them are Assay's.",
    version=2,
)
def agent_budget(case: Case, parameters: BudgetParameters) -> CaseScore:
    """What an agent spent on a case in steps, calls, tokens, dollars and seconds, and whether the budget was kept.

        within_budget = 1 if used ≤ budget for every quantity with a budget, else 0

    Steps and calls are counted in the trace: a step is a call, a piece of reasoning, or a message of the agent itself
    (not of user, system or tool). Tokens, cost and duration are those of the output: its columns `tokens`, `cost_usd`,
    `duration_s`, which the trace fills where the file has none. Each quantity is a metric of its own: its mean over
    cases with an interval.

    A budget comes from the parameters, for every case, or from the case's columns metadata.budget_steps,
    budget_tool_calls, budget_tokens, budget_cost_usd and budget_seconds, which go first. One quantity over its budget
    makes within_budget 0; otherwise a quantity with a budget of which nothing is known leaves it without a value, as
    does a case without any budget. What is not known has no value, and the reason names it. A trace that is
    empty or cannot be read keeps no budget; a budget that is no number from 0 up is an error.
    Evidence: each quantity with a budget or a value, what was used and what was allowed.
    """
    try:
        budgets = {name: _budget(case, name, getattr(parameters, name)) for name in QUANTITIES}
        counted = _count_steps(case.trace)
    except TraceError as failure:
        return output_failure(str(failure))
    except ValueError as failure:
        return CaseScore({}, Status.ERROR, str(failure))
    if case.trace is not None and not case.trace.strip():
        return output_failure("the trace is empty")
    used = {**counted, "tokens": case.tokens, "cost_usd": case.cost_usd, "seconds": case.duration_s}
    spent = [_Spent(name, used[name], budgets[name]) for name in QUANTITIES]
    judged = [one for one in spent if one.budget is not None]
    open_ = [one.name for one in judged if one.used is None]
    within: float | None = None
    if any(one.is_within is False for one in judged):
        within = 0.0
    elif judged and not open_:
        within = 1.0
    unknown = [QUANTITIES[one.name] for one in spent if one.used is None]
    reasons = [] if judged else [NO_BUDGET]
    reasons += [f"the output does not tell {', '.join(unknown)}"] if unknown else []
    verdicts = [_verdict(one) for one in spent if one.used is not None or one.budget is not None]
    values = {"within_budget": within, **{one.name: None if one.used is None else float(one.used) for one in spent}}
    return CaseScore(values, reason="; ".join(reasons) or None, evidence=Evidence({"budget": verdicts}))


def _count_steps(trace: str | None) -> dict[str, int | None]:
    """Return the steps and calls of a trace; TraceError where it is none."""
    if not (trace or "").strip():
        return {"steps": None, "tool_calls": None}
    steps = steps_of(trace or "")
    return {
        "steps": sum(step.kind != "message" or step.role not in OTHERS for step in steps),
        "tool_calls": sum(step.kind == "call" for step in steps),
    }


def _budget(case: Case, name: str, default: float | None) -> float | None:
    """Return the budget of a quantity. Raises ValueError where the case's own is no number from 0 up."""
    own = case.metadata.get(PREFIX + name)
    if own is None or not own.strip():
        return default
    try:
        value = float(own)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"metadata.{PREFIX}{name} is {own[:40]!r}, not a number from 0 up")
    return value


def _verdict(one: _Spent) -> Verdict:
    facts = {"used": one.used, "budget": one.budget}
    label = {True: "within", False: "over", None: "no budget" if one.budget is None else "unknown"}[one.is_within]
    known = {name: value for name, value in facts.items() if value is not None}
    return Verdict(one.name.replace("_", " "), yes_or_no(one.is_within), label, facts=known)
