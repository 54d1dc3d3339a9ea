"""Tool calls: whether an agent called the tools that it should, with the right arguments."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Status, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.suite import Case
from metrics.text.agents.call_matching import (
    Call,
    Compared,
    ExpectedCallsError,
    Pair,
    Rules,
    call_text,
    expected_calls,
    longest_common,
    named_arguments,
    pairings,
)
from metrics.text.agents.traces import TraceError, steps_of

SHOWN_CALLS = 200
NONE_MADE = "the agent called no tool"
NONE_EXPECTED = "no call is expected"
NEITHER = "no call is expected, and none was made"
OTHER_ARGUMENTS = "other arguments"
NO_ARGUMENTS = "no argument to compare"


class ToolCallParameters(Parameters):
    """When a call is the expected one."""

    order: Literal["sequence", "set"] = Field(
        "sequence", description="sequence: calls match in the expected order; set: in any order (parallel calls)."
    )
    arguments: Compared = Field(
        "all",
        description="all: exactly the expected arguments; expected: the expected ones, others are allowed; none: only "
        "the tools count.",
    )
    tolerance: float = Field(0.0, ge=0, description="By how much numbers in arguments may differ.")
    ignored_arguments: tuple[str, ...] = Field(
        (), description="Names of arguments that do not count: free text, ids, times."
    )

    @property
    def rules(self) -> Rules:
        """The rules by which arguments are compared."""
        return Rules(self.arguments, self.tolerance, frozenset(self.ignored_arguments))


PARIS = '{"tool": "weather", "arguments": {"city": "Paris", "days": 3}}'
MAIL = '{"tool": "mail", "arguments": {"to": "ann"}}'
WANTED = (
    '[{"name": "weather", "arguments": {"city": "Paris", "days": 3}}, {"name": "mail", "arguments": {"to": "ann"}}]'
)


def _binary(name: str, description: str) -> Metric:
    return Metric(name, description, binary=True, minor=True)


@evaluator(
    tasks=("agent", "text"),
    inputs=("trace", "expected_calls"),
    metrics=(
        Metric(
            "accuracy", "Share of cases whose calls are the expected ones: all of them and no others.",
            binary=True, primary=True,
        ),
        Metric("precision", "Share of the agent's calls that were expected."),
        Metric("recall", "Share of the expected calls that the agent made."),
        Metric("f1", "Harmonic mean of precision and recall of calls.", title="F1"),
        Metric("argument_precision", "Share of the arguments given that are the expected ones.", minor=True),
        Metric("argument_recall", "Share of the expected arguments that were given.", minor=True),
        Metric("argument_f1", "Harmonic mean of precision and recall of arguments.", title="Argument F1"),
        _binary("strict", "Trajectory match, strict: the expected calls in the expected order, and no others."),
        _binary("unordered", "Trajectory match, unordered: the expected calls in any order, and no others."),
        _binary("subset", "Trajectory match, subset: no call that was not expected."),
        _binary("superset", "Trajectory match, superset: every expected call, others are allowed."),
        Metric(
            "tool_sequence",
            "Longest common subsequence of the names of the tools, as a share of the calls made and expected.",
            minor=True,
        ),
    ),
    sources=("RAGAS: ToolCallAccuracy and ToolCallF1", "LangSmith agentevals: trajectory match",
             "DeepEval: tool correctness"),
    standards=("valid and reliable", "outcomes analysis", "LLM06 excessive agency"),
    examples=(
        Example(
            "the expected calls, the numbers written in another way",
            {"trace": f'{{"steps": [{PARIS.replace("3", "3.0")}, {MAIL}]}}', "expected_calls": WANTED},
            {
                "accuracy": 1.0, "precision": 1.0, "recall": 1.0, "f1": 1.0, "argument_f1": 1.0, "strict": 1.0,
                "unordered": 1.0, "subset": 1.0, "superset": 1.0, "tool_sequence": 1.0,
            },
        ),
        Example(
            "three calls for two: one right, one with another city, one that was not expected",
            {
                "trace": f'{{"steps": [{PARIS.replace("Paris", "Rome")}, {{"tool": "clock"}}, {MAIL}]}}',
                "expected_calls": WANTED,
            },
            {
                "accuracy": 0.0, "precision": 1 / 3, "recall": 1 / 2, "f1": 2 / 5, "argument_precision": 2 / 3,
                "argument_recall": 2 / 3, "argument_f1": 2 / 3, "subset": 0.0, "superset": 0.0, "tool_sequence": 4 / 5,
            },
        ),
        Example(
            "the right calls in the wrong order",
            {"trace": f'{{"steps": [{MAIL}, {PARIS}]}}', "expected_calls": WANTED},
            {"accuracy": 0.0, "f1": 1 / 2, "strict": 0.0, "unordered": 1.0, "tool_sequence": 1 / 2},
        ),
        Example(
            "in any order, only the tools and numbers within .5",
            {
                "trace": f'{{"steps": [{MAIL}, {PARIS.replace("3", "3.5")}]}}',
                "expected_calls": '[{"function": {"name": "weather", "arguments": "{\\"days\\": 3}"}}, "mail"]',
            },
            {"accuracy": 1.0, "argument_precision": 1.0, "argument_recall": 1.0, "strict": 0.0},
            parameters={"order": "set", "arguments": "expected", "tolerance": 0.5},
        ),
        Example(
            "no call is expected, and none was made",
            {"trace": '{"steps": [{"role": "assistant", "text": "Hello!"}]}', "expected_calls": "[]"},
            {"accuracy": 1.0, "precision": None, "recall": None, "f1": None, "argument_f1": None, "strict": 1.0},
        ),
        Example(
            "no call was made where one is expected",
            {"trace": '{"steps": []}', "expected_calls": '["search"]'},
            {"accuracy": 0.0, "precision": None, "recall": 0.0, "f1": 0.0, "subset": 1.0, "superset": 0.0},
        ),
        Example("the trace cannot be read", {"trace": "{", "expected_calls": "[]"}, {"accuracy": 0.0, "f1": 0.0}),
        Example(
            "the expected calls cannot be read", {"trace": "[]", "expected_calls": "search"}, status=Status.ERROR
        ),
    ),
    differs_from="rubric has a judge rate how well tools were chosen, and counts wasted calls without expected ones; "
    "step_alignment compares the steps that the answer lists. This one compares the calls in the trace with those of "
    "the case.",
    differs_from_source="RAGAS' ToolCallAccuracy is 0 where the order of the tools differs, else the mean share of "
    "right arguments, compared as text; here accuracy is 1 or 0 and the arguments have numbers of their own. Its "
    "ToolCallF1 counts equal calls once and gives 0 where there is nothing to count; here each call counts, and a "
    "share of nothing has no value. agentevals' strict also compares the roles of messages between the calls, which "
    "expected calls do not have, and pairs calls greedily; here the best pairing counts. DeepEval's tool correctness "
    "compares only names by default (`arguments`: none) and gives the recall.",
    version=2,
)  # fmt: skip
def tool_calls(case: Case, parameters: ToolCallParameters) -> CaseScore:
    """Whether the calls of tools in an agent's trace are the expected ones, with the expected arguments.

        accuracy = 1 if every call is matched on both sides, else 0
        precision = matches / calls made,  recall = matches / calls expected,  F1 = 2 · matches / (made + expected)
        argument precision, recall, F1: the same for arguments, with the equal ones of paired calls as matches
        tool_sequence = 2 · LCS(names of the tools made, expected) / (made + expected)

    Calls of one tool are paired, each with at most one expected call, in order (`order`: sequence) or in any order
    (set); of all pairings the best counts: the most pairs with equal arguments, then the most pairs, then the most
    equal arguments. A pair is a match if its arguments are equal: as JSON, so that 3 is 3.0 and no "3", numbers within
    `tolerance`, names in `ignored_arguments` left out; `arguments` says whether others than the expected ones are
    allowed, or none are compared. An expected call without arguments accepts any, and they do not count.

    Trajectory match, each 1 or 0: strict, the same calls in the same order; unordered, in any order; subset, every call
    made is expected; superset, every expected call is made. They do not depend on `order`.

    A call that failed counts as made. `expected_calls` is a JSON list; empty, no call should be made. Where there is
    nothing to count, a share has no value and the reason says why: precision without a call made, recall without one
    expected, the numbers of arguments without any. A trace that cannot be read has 0,
    expected calls that cannot be read are an error.
    Evidence: each expected call (called, other arguments, missing) and each call made (expected, other arguments,
    unexpected), with the call that it is paired with and the names of the arguments that differ.
    """
    try:
        wanted = expected_calls(case.expected_calls or "")
        steps = steps_of(case.trace or "")
    except ExpectedCallsError as failure:
        return CaseScore({}, Status.ERROR, f"the expected calls cannot be read: {failure}")
    except TraceError as failure:
        return output_failure(str(failure))
    made = [Call(step.tool, named_arguments(step.arguments)) for step in steps if step.kind == "call"]
    rules = parameters.rules
    in_order, as_set = pairings(made, wanted, rules)
    pairs = in_order if parameters.order == "sequence" else as_set
    ordered, any_order, matches = (
        sum(pair.arguments.is_match for pair in found) for found in (in_order, as_set, pairs)
    )
    values = {
        "accuracy": float(len(made) == len(wanted) == matches),
        **_shares(matches, len(made), len(wanted), ""),
        **_argument_shares(made, wanted, pairs, rules),
        "strict": float(len(made) == len(wanted) == ordered),
        "unordered": float(len(made) == len(wanted) == any_order),
        "subset": float(any_order == len(made)),
        "superset": float(any_order == len(wanted)),
        "tool_sequence": _share(2 * longest_common(made, wanted), len(made) + len(wanted)),
    }
    reasons = [NEITHER if not wanted else NONE_MADE] if not made else [NONE_EXPECTED] if not wanted else []
    reasons += [NO_ARGUMENTS] if made and values["argument_f1"] is None else []
    facts = {"made": len(made), "expected": len(wanted), "matches": matches}
    return CaseScore(
        values, reason="; ".join(reasons) or None, evidence=Evidence(_verdicts(made, wanted, pairs, rules), facts)
    )


def _shares(matches: int, made: int, wanted: int, prefix: str) -> dict[str, float | None]:
    return {
        f"{prefix}precision": _share(matches, made),
        f"{prefix}recall": _share(matches, wanted),
        f"{prefix}f1": _share(2 * matches, made + wanted),
    }


def _share(count: int, total: int) -> float | None:
    return count / total if total else None


def _argument_shares(
    made: Sequence[Call], wanted: Sequence[Call], pairs: Sequence[Pair], rules: Rules
) -> dict[str, float | None]:
    """Return the shares of equal arguments: those of pairs as they agree, those of the other calls all wrong."""
    equal = sum(pair.arguments.equal for pair in pairs)
    given = sum(pair.arguments.given for pair in pairs)
    expected = sum(pair.arguments.expected for pair in pairs)
    alone = set(range(len(made))).difference(pair.made for pair in pairs)
    missed = set(range(len(wanted))).difference(pair.wanted for pair in pairs)
    given += sum(len(rules.counted(made[place]) or ()) for place in alone)
    expected += sum(len(rules.counted(wanted[place]) or ()) for place in missed)
    return _shares(equal, given, expected, "argument_")


def _verdicts(
    made: Sequence[Call], wanted: Sequence[Call], pairs: Sequence[Pair], rules: Rules
) -> dict[str, list[Verdict]]:
    """Return the verdicts on the expected calls and on those made, each linked with the one that it is paired with."""
    expected = [Verdict(call_text(call), "no", "missing") for call in wanted]
    calls = [Verdict(call_text(call), "no", "unexpected") for call in made[:SHOWN_CALLS]]
    for place, other, agreement in pairs:
        holds = yes_or_no(agreement.is_match)
        differ = [] if agreement.is_match else rules.differing(made[place], wanted[other])
        facts = {"differ": ", ".join(differ)} if differ else {}
        label = OTHER_ARGUMENTS if differ else "called"
        link = ("calls", place + 1)
        expected[other] = Verdict(expected[other].text, holds, label, rests_on=(link,), facts=facts)
        if place < SHOWN_CALLS:
            label = OTHER_ARGUMENTS if differ else "expected"
            link = ("expected_calls", other + 1)
            calls[place] = Verdict(calls[place].text, holds, label, rests_on=(link,), facts=facts)
    return {"expected_calls": expected, "calls": calls}
