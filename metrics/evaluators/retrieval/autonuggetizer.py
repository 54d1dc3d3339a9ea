"""AutoNuggetizer: how much of the passages' information about the question is in the answer."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from metrics.core.errors import JudgeError
from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, evaluator, not_applicable
from metrics.core.evidence import Evidence, Holds, Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.judge.asking import ItemReply, Judge, Reply
from metrics.judge.grading import GRADE, STRUCTURED, Wording, failures, grade_verdicts, grades, wording
from metrics.judge.steps import each

MOST_NUGGETS, MOST_WORDS = 30, 12
HOLDS: dict[str, Holds] = {"support": "yes", "partial_support": "unknown", "not_support": "no"}
NUGGETS = Prompt(
    "autonuggetizer.nuggets",
    f"Keep a list of nuggets: short, atomic pieces of information (1 to {MOST_WORDS} words, no questions) that an "
    "answer to QUERY should hold. Update NUGGETS, the list so far, by what PASSAGES tell about QUERY: add what is "
    "missing, join or drop what is said twice. Use nothing but NUGGETS and PASSAGES. Reply with the whole list, the "
    f"most important first, at most {MOST_NUGGETS}; as it is, if PASSAGES add nothing.",
)
IMPORTANCE = Prompt(
    "autonuggetizer.importance",
    "How important is each of the NUGGETS to an answer to QUERY? vital: a good answer must hold it. okay: worthwhile, "
    "but a good answer can do without it.",
)
ASSIGNMENT = Prompt(
    "autonuggetizer.assignment",
    "Does ANSWER, given to QUERY, hold each of the NUGGETS? support: it says all of it, in whatever words. "
    "partial_support: it says a part of it. not_support: it does not say it.",
)


class NuggetParameters(Parameters):
    """How many nuggets are made of the passages and kept, in what portions, and what they count."""

    max_nuggets: int = Field(MOST_NUGGETS, ge=1, le=200, description="Most nuggets that a round may list.")
    kept_nuggets: int = Field(20, ge=1, le=200, description="Nuggets that are compared with the answer, vital first.")
    passages_per_round: int = Field(10, ge=1, le=100, description="Passages that the judge reads in one round.")
    max_rounds: int = Field(5, ge=1, le=50, description="Most rounds; passages beyond them are left out.")
    nuggets_per_call: int = Field(10, ge=1, le=100, description="Nuggets that are weighed or compared in one call.")
    vital_weight: float = Field(1.0, gt=0, le=1, description="Weight of a vital nugget in `weighted`.")
    okay_weight: float = Field(0.5, ge=0, le=1, description="Weight of an okay nugget in `weighted`.")
    partial_credit: float = Field(0.5, ge=0, le=1, description="Credit of a nugget that is supported in part.")
    prompt: Wording = Field(
        "auto", description="Wording in which the passages are graded, as in umbrela: auto, standard or structured."
    )


class _Nuggets(Reply):
    nuggets: list[str]


class _Importance(ItemReply):
    reason: str = ""
    importance: Literal["vital", "okay"]


class _Assignment(ItemReply):
    reason: str = ""
    assignment: Literal["support", "partial_support", "not_support"]


QUESTION = "What did Marie Curie win?"
PASSAGE = "Marie Curie won the Nobel Prize in Physics in 1903 and in Chemistry in 1911; she was born in Warsaw."
FIVE = ["physics prize 1903", "chemistry prize 1911", "first woman to win", "born in Warsaw", "shared with Becquerel"]


def _replies(importance: Sequence[str], assignment: Sequence[str], grade: int = 3) -> tuple[ScriptedReply, ...]:
    return (
        ScriptedReply("umbrela.grade", {"intent": "her prizes", "match": grade, "trust": 3, "grade": grade}),
        ScriptedReply("autonuggetizer.nuggets", {"nuggets": FIVE[: len(importance)]}),
        ScriptedReply("autonuggetizer.importance", [{"reason": "", "importance": label} for label in importance]),
        ScriptedReply("autonuggetizer.assignment", [{"reason": "", "assignment": label} for label in assignment]),
    )


GIVEN = {"question": QUESTION, "answer": "Two Nobel Prizes.", "retrieved_contexts": [PASSAGE]}


@evaluator(
    id="autonuggetizer",
    title="AutoNuggetizer",
    inputs=("question", "answer", "retrieved_contexts"),
    prompts=(GRADE, STRUCTURED, NUGGETS, IMPORTANCE, ASSIGNMENT),
    version=2,
    metrics=(
        Metric("weighted", "Mean credit of the nuggets, okay ones at half weight.", primary=True),
        Metric("all", "Mean credit of all nuggets: 1 supported, .5 in part."),
        Metric("vital", "Mean credit of the vital nuggets."),
        Metric("weighted_strict", "As weighted, without credit for partial support.", minor=True),
        Metric("all_strict", "Share of all nuggets that are supported in full.", minor=True),
        Metric("vital_strict", "Share of the vital nuggets that are supported in full.", minor=True),
    ),
    sources=("Open RAG Eval", "Pradeep et al. 2024, AutoNuggetizer (arXiv:2411.09607)"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "three vital nuggets, two okay ones",
            GIVEN,
            {
                "all": 0.6, "vital": 0.5, "weighted": 0.5625, "all_strict": 0.4, "vital_strict": 1 / 3,
                "weighted_strict": 0.375,
            },
            judge=_replies(
                ["vital", "vital", "vital", "okay", "okay"],
                ["support", "partial_support", "not_support", "support", "partial_support"],
            ),
        ),
        Example(
            "two vital nuggets, both supported; without okay ones nothing is added",
            GIVEN,
            dict.fromkeys(("all", "vital", "weighted", "all_strict", "vital_strict", "weighted_strict"), 1.0),
            judge=_replies(["vital", "vital"], ["support", "support"]),
        ),
        Example(
            "three nuggets kept, okay ones at a weight of .2, partial support worth .4",
            GIVEN,
            {"all": 1.4 / 3, "vital": 0.7, "weighted": 1.4 / 2.2, "all_strict": 1 / 3},
            parameters={"kept_nuggets": 3, "okay_weight": 0.2, "partial_credit": 0.4},
            judge=_replies(["okay", "vital", "okay", "vital"], ["support", "partial_support", "not_support"]),
        ),
        Example(
            "no nugget is vital",
            GIVEN,
            {"all": 0.25, "vital": None, "weighted": 0.25, "all_strict": 0.0, "vital_strict": None},
            judge=_replies(["okay", "okay"], ["partial_support", "not_support"]),
        ),
        Example(
            "an empty answer contains no nugget",
            GIVEN | {"answer": ""},
            {"all": 0.0, "vital": 0.0, "weighted": 0.0},
            judge=_replies(["vital", "okay"], []),
        ),
        Example.not_applicable("no passage has to do with the question", GIVEN, judge=_replies([], [], grade=0)),
        Example.not_applicable("the passages hold nothing", GIVEN, judge=_replies([], [])),
    ),
    differs_from="context_recall and answer_correctness need an expected answer; here the passages themselves, graded "
    "as in umbrela, say what an answer should hold.",
    differs_from_source=(
        "The prompts are worded by Assay, and the run's judge replaces GPT-4o. Numbers and weights are Open RAG Eval's "
        "defaults. Each round reads the next window of passages, where Open RAG Eval shows every passage in every "
        "round. A class without nuggets contributes nothing, where Open RAG Eval counts it as one nugget without "
        "credit. Nuggets of more than 12 words are dropped and listed. Thresholds are Assay's."
    ),
)  # fmt: skip
async def autonuggetizer(case: Case, parameters: NuggetParameters, judge: Judge) -> CaseScore:
    """How much of the information that the passages contain about the question, in nuggets, the answer contains too.

        credit of a nugget = 1 supported, .5 partly supported, 0 not supported;  strict: 1 supported, else 0
        all = mean credit;  vital = mean credit of the vital nuggets
        weighted = (Σ vital credit + .5 Σ okay credit) / (n_vital + .5 n_okay);  1 and .5 are parameters

    Passages of UMBRELA grade 1 or more are read in windows of 10, in at most 5 rounds. In each round the judge sees one
    window and the list so far, and updates the list: at most 30 nuggets of 1–12 words. Ten at a time, they are labelled
    vital or okay and sorted with the vital ones first (otherwise in order), and the first 20 are kept. Ten at a time,
    these are compared with the whole answer. The grades are those of `umbrela`; they are not asked for again. Every
    number here is a parameter.

    Without vital nuggets `vital` has no value, and `weighted` is the mean of the okay ones. Without a passage of grade
    1, or without a nugget, the case is not applicable. A passage whose grade cannot be read is left out and listed; if
    no grade can be read, the case is a parse failure. An empty answer supports nothing; the judge is not asked.
    Evidence: nuggets with importance, support and reasons, the passages' grades, the number of rounds, passages left
    out, and dropped nuggets (of more than 12 words).
    Open RAG Eval differs: it shows every passage in every round and counts an empty class as one nugget without credit.
    """
    question = case.question or ""
    prompt = wording(judge, parameters.prompt)
    graded = await grades(judge, prompt, question, case.retrieved_contexts)
    passages = grade_verdicts(graded)
    if all(isinstance(entry, JudgeError) for entry in graded):
        status, reason = failures(graded)
        return CaseScore({}, status, reason, Evidence({"passages": passages}, {"prompt": prompt.id}))
    related = [
        passage
        for passage, entry in zip(case.retrieved_contexts, graded, strict=True)
        if not isinstance(entry, JudgeError) and entry.grade >= 1
    ]
    if not related:
        nothing = "no passage is related to the question"
        return not_applicable(nothing, Evidence({"passages": passages}, {"prompt": prompt.id}))
    size, rounds = parameters.passages_per_round, parameters.max_rounds
    windows = [related[start : start + size] for start in range(0, len(related), size)][:rounds]
    created, dropped = await _created(judge, question, windows, parameters.max_nuggets)
    facts: dict[str, Any] = {
        "prompt": prompt.id,
        "rounds": len(windows),
        "passages_left_out": max(0, len(related) - size * rounds),
        "dropped": dropped,
    }
    if not created:
        return not_applicable("the passages contain no nugget of information", Evidence({"passages": passages}, facts))
    query, batch = {"QUERY": question}, parameters.nuggets_per_call
    weighed = await each(judge, IMPORTANCE, _Importance, created, query, name="NUGGETS", batch=batch)
    ranked = sorted(
        zip(created, weighed, strict=True), key=lambda pair: pair[1].importance != "vital"
    )[: parameters.kept_nuggets]  # fmt: skip
    kept = [nugget for nugget, _ in ranked]
    if (case.answer or "").strip():
        data = query | {"ANSWER": case.answer}
        assigned = await each(judge, ASSIGNMENT, _Assignment, kept, data, name="NUGGETS", batch=batch)
    else:
        assigned = (_Assignment(id=0, reason="the answer is empty", assignment="not_support"),) * len(kept)
    judged = [(nugget, weight, support) for (nugget, weight), support in zip(ranked, assigned, strict=True)]
    nuggets = [
        Verdict(
            nugget,
            HOLDS[support.assignment],
            support.assignment.replace("_", " "),
            support.reason,
            facts={"importance": weight.importance, "importance_reason": weight.reason},
        )
        for nugget, weight, support in judged
    ]
    marks = [(weight.importance == "vital", support.assignment) for _, weight, support in judged]
    values = nugget_scores(marks, parameters)
    missing = "no nugget is vital" if values["vital"] is None else None
    return CaseScore(values, reason=missing, evidence=Evidence({"nuggets": nuggets, "passages": passages}, facts))


def nugget_scores(nuggets: Sequence[tuple[bool, str]], parameters: NuggetParameters) -> dict[str, float | None]:
    """Return the six scores of nuggets, each given as whether it is vital and its support (a key of HOLDS)."""
    values: dict[str, float | None] = {}
    weight = {True: parameters.vital_weight, False: parameters.okay_weight}
    for suffix, partial in (("", parameters.partial_credit), ("_strict", 0.0)):
        credit = {"support": 1.0, "partial_support": partial, "not_support": 0.0}
        credits = [(credit[assignment], weight[vital]) for vital, assignment in nuggets]
        vital_credits = [credit[assignment] for vital, assignment in nuggets if vital]
        values[f"all{suffix}"] = sum(value for value, _ in credits) / len(credits)
        values[f"vital{suffix}"] = sum(vital_credits) / len(vital_credits) if vital_credits else None
        total = sum(mass for _, mass in credits)
        values[f"weighted{suffix}"] = sum(value * mass for value, mass in credits) / total if total else None
    return values


async def _created(
    judge: Judge, question: str, windows: Sequence[Sequence[str]], most: int
) -> tuple[list[str], list[str]]:
    """Return the nuggets after one round per window of passages, and those that any round dropped as too long.

    Each round starts from the previous list.
    """
    prompt = Prompt(NUGGETS.id, NUGGETS.text.replace(f"at most {MOST_NUGGETS}", f"at most {most}"))
    nuggets: list[str] = []
    dropped: list[str] = []
    for passages in windows:
        data = {"QUERY": question, "NUGGETS": nuggets or "(none yet)", "PASSAGES": passages}
        reply = await judge.ask(prompt, _Nuggets, data)
        listed = list(dict.fromkeys(" ".join(nugget.split()) for nugget in reply.nuggets if nugget.strip()))
        dropped += [nugget for nugget in listed if len(nugget.split()) > MOST_WORDS]
        nuggets = [nugget for nugget in listed if len(nugget.split()) <= MOST_WORDS][:most]
    return nuggets, list(dict.fromkeys(dropped))
