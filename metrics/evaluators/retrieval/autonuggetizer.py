"""AutoNuggetizer: how much of the passages' information about the question is in the answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from metrics.core.errors import JudgeError
from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Holds, Verdict
from metrics.core.prompt import Pair, Prompt
from metrics.core.rounding import exact_sum
from metrics.core.suite import Case
from metrics.judge.asking import ItemReply, Judge, Reply
from metrics.judge.grading import GRADE, STRUCTURED, Wording, failures, grade_verdicts, grades, wording
from metrics.judge.long_texts import batches, pieces
from metrics.judge.steps import each, together

MOST_NUGGETS, MOST_WORDS = 30, 12
HOLDS: dict[str, Holds] = {"support": "yes", "partial_support": "unknown", "not_support": "no"}
NO_INFORMATION = "Not enough information, no answer found"  # the one nugget where the passages hold nothing
NUGGETS = Prompt(
    "autonuggetizer.nuggets",
    f"Keep a list of nuggets: short, atomic pieces of information (1 to {MOST_WORDS} words, statements, no questions) "
    "that together best give what an answer to QUERY should hold. Update NUGGETS, the list so far, by what PASSAGES "
    "tell about QUERY: add what is missing, join or drop what is said twice, so that nothing is redundant; prefer "
    "nuggets that give more interesting information. Use nothing but NUGGETS and PASSAGES, no knowledge of your own. "
    f"Reply with the whole list, the most important first, only the most vital ones, at most {MOST_NUGGETS}; as it is, "
    "if PASSAGES add nothing. If neither NUGGETS nor PASSAGES hold any information about QUERY, invent none: the only "
    f"nugget is then '{NO_INFORMATION}'.",
    (
        Pair(
            {
                "QUERY": "why are cranberry bogs flooded",
                "NUGGETS": ["flooding protects vines from frost"],
                "PASSAGES": [
                    "In autumn the bogs are flooded for the harvest: ripe berries hold air and float to the top.",
                    "A flood in winter keeps frost from the vines. The bog near Ardle was sold in 1998.",
                ],
            },
            {
                "nuggets": [
                    "flooded in autumn for the harvest",
                    "ripe berries hold air and float",
                    "winter flood protects vines from frost",
                ]
            },
        ),
        Pair(
            {"QUERY": "who designed the Ardle tram", "NUGGETS": "(none yet)", "PASSAGES": ["Ardle has a tram museum."]},
            {"nuggets": [NO_INFORMATION]},
        ),
    ),
    {
        "context": "PASSAGES",
        "initial_nuggets": "NUGGETS",
        "initial_nuggets_length": "the number of NUGGETS",
        "max_nuggets": str(MOST_NUGGETS),
    },
)
IMPORTANCE = Prompt(
    "autonuggetizer.importance",
    "How important is each of the NUGGETS to an answer to QUERY? vital: a concept that must be present in a good "
    "answer. okay: worthwhile information about what is asked, but not essential: a good answer can do without it.",
    (
        Pair(
            {
                "QUERY": "why are cranberry bogs flooded",
                "NUGGETS": ["flooded in autumn for the harvest", "berries hold four pockets of air"],
            },
            {
                "replies": [
                    {"id": 1, "reason": "It is the main cause.", "importance": "vital"},
                    {"id": 2, "reason": "A detail of how berries float.", "importance": "okay"},
                ]
            },
        ),
    ),
    {"len_nuggets": "numbered"},
)
ASSIGNMENT = Prompt(
    "autonuggetizer.assignment",
    "Does ANSWER, given to QUERY, hold each of the NUGGETS? support: ANSWER captures it fully, in whatever words. "
    "partial_support: it captures a part of it. not_support: it does not capture it at all. The nugget "
    f"'{NO_INFORMATION}' has support if ANSWER too says that there is no result or not enough information.",
    (
        Pair(
            {
                "QUERY": "why are cranberry bogs flooded",
                "ANSWER": "Growers flood the bogs so that the fruit floats and can be gathered.",
                "NUGGETS": [
                    "ripe berries float",
                    "flooded in autumn for the harvest",
                    "winter flood protects vines from frost",
                ],
            },
            {
                "replies": [
                    {"id": 1, "reason": "The fruit floats.", "assignment": "support"},
                    {"id": 2, "reason": "For the harvest, but no season.", "assignment": "partial_support"},
                    {"id": 3, "reason": "Nothing on frost.", "assignment": "not_support"},
                ]
            },
        ),
    ),
    {"len_nuggets": "numbered", "generated_passage": "ANSWER"},
)


class NuggetParameters(Parameters):
    """How many nuggets are made of the passages and kept, in what portions, and what they count."""

    max_nuggets: int = Field(MOST_NUGGETS, ge=1, le=200, description="Most nuggets that a round may list.")
    kept_nuggets: int = Field(20, ge=1, le=200, description="Nuggets that are compared with the answer, vital first.")
    passages_per_round: int = Field(10, ge=1, le=100, description="Passages that the judge reads in one round.")
    max_rounds: int = Field(5, ge=1, le=50, description="Most rounds; passages beyond them are left out.")
    refine: bool = Field(
        False,
        description="Read every passage in every round, as Open RAG Eval does, until a round leaves the list as it is; "
        "off: each round reads the next passages. On, a case takes up to max_rounds times as many of these calls.",
    )
    nuggets_per_call: int = Field(10, ge=1, le=100, description="Nuggets that are weighed or compared in one call.")
    vital_weight: float = Field(1.0, gt=0, le=1, description="Weight of a vital nugget in weighted.")
    okay_weight: float = Field(0.5, ge=0, le=1, description="Weight of an okay nugget in weighted.")
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
    title="AutoNuggetizer",
    inputs=("question", "answer", "retrieved_contexts"),
    prompts=(GRADE, STRUCTURED, NUGGETS, IMPORTANCE, ASSIGNMENT),
    version=4,
    metrics=(
        Metric("weighted", "Mean credit of the nuggets, okay ones at half weight.", primary=True),
        Metric("all", "Mean credit of all nuggets: 1 supported, .5 in part."),
        Metric("vital", "Mean credit of the vital nuggets."),
        Metric("weighted_strict", "As weighted, without credit for partial support.", minor=True),
        Metric("all_strict", "Share of all nuggets that are supported in full.", minor=True),
        Metric("vital_strict", "Share of the vital nuggets that are supported in full.", minor=True),
    ),
    sources=("Open RAG Eval", "Pradeep et al. 2024, AutoNuggetizer (arXiv:2411.09607)"),
    standards=("valid and reliable", "outcomes analysis"),
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
        Example(
            "no passage has to do with the question, and the answer says so",
            GIVEN | {"answer": "The documents do not say what she won."},
            {"all": 1.0, "vital": 1.0, "weighted": 1.0, "all_strict": 1.0},
            judge=_replies([], ["support"], grade=0),
        ),
        Example(
            "the passages hold nothing about the question, and the model answers all the same",
            GIVEN,
            {"all": 0.0, "vital": 0.0, "weighted": 0.0},
            judge=(
                _replies(["vital"], [])[0],
                ScriptedReply("autonuggetizer.nuggets", {"nuggets": ["not enough information, no answer found."]}),
                *_replies(["vital"], ["not_support"])[2:],
            ),
        ),
    ),
    differs_from="context_recall and answer_correctness need an expected answer; here the passages themselves, graded "
    "as in umbrela, say what an answer should hold.",
    differs_from_source="The prompts are worded by Assay, and the run's judge replaces GPT-4o. Numbers and weights are "
    "Open RAG Eval's defaults. Each round reads the next window of passages; `refine` shows every passage in every "
    "round, as Open RAG Eval does, and stops as soon as the list does not change. A class without nuggets contributes "
    "nothing, where Open RAG Eval counts it as one nugget without credit. Nuggets of more than 12 words are dropped "
    "and listed. The nugget that there is not enough information stands also for an empty list and for a case without "
    "a related passage, and is vital without asking. Thresholds are Assay's.",
)  # fmt: skip
async def autonuggetizer(case: Case, parameters: NuggetParameters, judge: Judge) -> CaseScore:
    """How much of the information that the passages contain about the question, in nuggets, the answer contains too.

        credit of a nugget = 1 supported, .5 partly supported, 0 not supported;  strict: 1 supported, else 0
        all = mean credit;  vital = mean credit of the vital nuggets
        weighted = (Σ vital credit + .5 Σ okay credit) / (n_vital + .5 n_okay);  1 and .5 are parameters

    Passages of UMBRELA grade 1 or more are read in windows of 10, in at most 5 rounds. In each round the judge sees one
    window and the list so far, and updates the list: at most 30 nuggets of 1–12 words. With `refine` it sees all of
    these passages in each round; the rounds end as soon as the list does not change. Ten at a time, they are labelled
    vital or okay and sorted with the vital ones first (otherwise in order), and the first 20 are kept. Ten at a time,
    these are compared with the whole answer. The grades are those of `umbrela`; they are not asked for again. Every
    number here is a parameter.

    Where the passages hold nothing about the question (no passage of grade 1, or no nugget), the only nugget, a vital
    one, is that there is not enough information: an answer that says so scores 1, any other 0.

    Without vital nuggets `vital` has no value, and `weighted` is the mean of the okay ones. A passage whose grade
    cannot be read is left out and listed; if none is known to be related, the case is then a parse failure. An empty
    answer supports nothing; the judge is not asked. Where every nugget is too long, the case is not applicable.
    Evidence: nuggets with importance, support and reasons, the passages' grades, the number of rounds, passages left
    out, and dropped nuggets (of more than 12 words).
    """
    question = case.question or ""
    prompt = wording(judge, parameters.prompt)
    graded = await grades(judge, prompt, question, case.retrieved_contexts)
    passages = grade_verdicts(graded)
    related = [
        passage
        for passage, entry in zip(case.retrieved_contexts, graded, strict=True)
        if not isinstance(entry, JudgeError) and entry.grade >= 1
    ]
    status, failed = failures(graded)
    if failed and not related:  # one of them may be related
        return CaseScore({}, status, failed, Evidence({"passages": passages}, {"prompt": prompt.id}))
    size, rounds = parameters.passages_per_round, parameters.max_rounds
    windows = [related[start : start + size] for start in range(0, len(related), size)][:rounds]
    if parameters.refine and related:
        windows = [related] * rounds
    created, dropped, asked_rounds = await _create_nuggets(judge, question, windows, parameters)
    facts: dict[str, Any] = {
        "prompt": prompt.id,
        "rounds": asked_rounds,
        "passages_left_out": 0 if parameters.refine else max(0, len(related) - size * rounds),
        "dropped": dropped,
    }
    if dropped and not created:
        reason = f"every nugget has more than {MOST_WORDS} words"
        return not_applicable(reason, Evidence({"passages": passages}, facts))
    query, batch = {"QUERY": question}, parameters.nuggets_per_call
    if created:
        weighed = await each(judge, IMPORTANCE, _Importance, created, query, name="NUGGETS", batch=batch)
    else:
        created = [NO_INFORMATION]
        weighed = (_Importance(id=1, reason="the passages do not tell", importance="vital"),)
    ranked = sorted(zip(created, weighed, strict=True), key=lambda pair: pair[1].importance != "vital")[
        : parameters.kept_nuggets
    ]
    kept = [nugget for nugget, _ in ranked]
    if (case.answer or "").strip():
        parts = pieces(case.answer or "", judge.room // 2)
        asked = await together(
            each(judge, ASSIGNMENT, _Assignment, kept, query | {"ANSWER": part}, name="NUGGETS", batch=batch)
            for part in parts
        )
        assigned = tuple(min(entries, key=_rank) for entries in zip(*asked, strict=True))
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


def _rank(entry: _Assignment) -> int:
    return list(HOLDS).index(entry.assignment)


def nugget_scores(nuggets: Sequence[tuple[bool, str]], parameters: NuggetParameters) -> dict[str, float | None]:
    """Return the six scores of nuggets, each given as whether it is vital and its support (a key of HOLDS)."""
    values: dict[str, float | None] = {}
    weight = {True: parameters.vital_weight, False: parameters.okay_weight}
    for suffix, partial in (("", parameters.partial_credit), ("_strict", 0.0)):
        credit = {"support": 1.0, "partial_support": partial, "not_support": 0.0}
        credits = [(credit[assignment], weight[vital]) for vital, assignment in nuggets]
        vital_credits = [credit[assignment] for vital, assignment in nuggets if vital]
        values[f"all{suffix}"] = exact_sum(value for value, _ in credits) / len(credits)
        values[f"vital{suffix}"] = exact_sum(vital_credits) / len(vital_credits) if vital_credits else None
        total = exact_sum(mass for _, mass in credits)
        values[f"weighted{suffix}"] = exact_sum(value * mass for value, mass in credits) / total if total else None
    return values


async def _create_nuggets(
    judge: Judge, question: str, windows: Sequence[Sequence[str]], parameters: NuggetParameters
) -> tuple[list[str], list[str], int]:
    """Return the nuggets, those that any round dropped as too long, and the number of rounds: one a window of passages.

    Each round starts from the previous list; one whose passages do not fit into a question takes several. With `refine`
    the first round that leaves the list as it was is the last. No nuggets: the passages hold nothing about QUERY.
    """
    most = parameters.max_nuggets
    prompt = replace(
        NUGGETS,
        text=NUGGETS.text.replace(f"at most {MOST_NUGGETS}", f"at most {most}"),
        published={**NUGGETS.published, "max_nuggets": str(most)},
    )
    nuggets: list[str] = []
    dropped: list[str] = []
    left = judge.room * 3 // 4  # beside the question and the nuggets
    rounds = questions = 0
    for window in windows:
        before = nuggets
        rounds += 1
        parts = [part for passage in window for part in pieces(passage, left // 2)]
        for places in batches(parts, left):
            passages = [parts[place] for place in places]
            data = {"QUERY": question, "NUGGETS": nuggets or "(none yet)", "PASSAGES": passages}
            reply = await judge.ask(prompt, _Nuggets, data)
            listed = list(dict.fromkeys(" ".join(nugget.split()) for nugget in reply.nuggets if nugget.strip()))
            dropped += [nugget for nugget in listed if len(nugget.split()) > MOST_WORDS]
            short = [nugget for nugget in listed if len(nugget.split()) <= MOST_WORDS and not _says_nothing(nugget)]
            nuggets = short[:most]
            questions += 1
        if parameters.refine and nuggets == before:
            break
    if questions > rounds:
        judge.note("context_batches", questions)
    return nuggets, list(dict.fromkeys(dropped)), rounds


def _says_nothing(nugget: str) -> bool:
    """Return whether it is the nugget of passages that hold nothing."""
    return nugget.strip(" .'\"").casefold() == NO_INFORMATION.casefold()
