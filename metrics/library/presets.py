"""Presets: evaluators to start with, by what is to be evaluated, chosen by what each evaluator declares."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from metrics.core.did_you_mean import one_of
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import JUDGE, PLUGINS, Evaluator
from metrics.core.fields import TASKS
from metrics.core.registry import evaluators
from metrics.core.suite import Task

COMPOSED = ("ragas", "answer_correctness_weighted")  # made of others of the preset: the same calls, nothing new
VARIANTS = (  # of others in the preset: another definition of the same, or its complement
    "answer_relevancy", "hallucination_claims", "hallucination_contexts", "context_relevancy_sentences",
)  # fmt: skip
DEAR = ("umbrela", "autonuggetizer", "fact_check")  # a question for each passage, or a search, beyond the others
OWN = ("byop", "g_eval")  # say nothing before the user has written a prompt or a criterion
BENCHMARKS = (  # other rules than COCO's for the same objects
    "ap_by_bin", "boundary_ap", "lvis_summary", "open_images_ap", "oriented_ap", "voc_ap",
)  # fmt: skip
TRANSLATION = ("corpus_bleu", "chrf", "ter", "meteor")  # overlap as papers on translation report it
USAGE = "usage"  # a family of no preset but its own: it says nothing of how good answers are
RUN_CODE = ("code_execution", "sql_execution", "pass_at_k")  # run what a model wrote, or follow that: chosen by name


@dataclass(frozen=True, slots=True)
class Preset:
    """Evaluators to start with, for suites of some tasks.

    They are those of the `families` that suit the task, and `also` those named (where neither is named, all but
    plugins and USAGE), without the `omitted`. `judge`: only evaluators that ask a judge, or only others; None: both.
    `models`: those that need local weights, too. `requires` is what the data must have for the preset to make sense.
    """

    id: str
    title: str
    summary: str
    tasks: tuple[Task, ...]
    families: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    judge: bool | None = None
    models: bool = True
    also: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()

    def evaluators(self, task: Task | str) -> list[Evaluator]:
        """Return its evaluators for a task: the one that its family is named after first, else as in the registry."""
        held = [entry for entry in evaluators().values() if self._holds(entry, task)]
        return sorted(held, key=lambda entry: entry.id != entry.family)

    def runnable(self, task: Task | str, present: Collection[str]) -> list[str]:
        """Return the ids of those that the data can feed; `present` is what it has (see available_inputs)."""
        has = frozenset(present)
        return [
            entry.id
            for entry in self.evaluators(task)
            if not entry.lacking(has.__contains__) and has.issuperset(entry.default_needs)
        ]

    def suits(self, task: Task | str, present: Collection[str]) -> bool:
        """Return whether the preset is for the task and the data has what it is about."""
        return task in self.tasks and set(self.requires).issubset(present) and bool(self.runnable(task, present))

    def _holds(self, entry: Evaluator, task: Task | str) -> bool:
        if task not in entry.tasks or task not in self.tasks or entry.id in self.omitted:
            return False
        if entry.id in self.also:
            return True
        family = entry.family in self.families if self.families or self.also else entry.family not in (PLUGINS, USAGE)
        judged = self.judge is None or (JUDGE in entry.needs) == self.judge
        return family and judged and (self.models or not entry.needs)


PRESETS = {
    preset.id: preset
    for preset in (
        Preset(
            "quick", "Quick check", "Formulas and rules only: no judge, no model, no cost.", ("text", "agent"),
            judge=False, models=False,
            omitted=(*TRANSLATION, "edit_distance", "readability", *RUN_CODE, "refusal_balance"),
        ),
        Preset(
            "rag", "RAG without a judge", "Grounding, retrieval and answers, by local models and formulas.", ("text",),
            ("grounding", "retrieval", "answers"), ("retrieved_contexts",), judge=False,
            also=("rouge", "bleu", "language_mismatch"),
        ),
        Preset(
            "rag_judge", "RAG with a judge", "Grounding, retrieval and answers, claim by claim, by an LLM judge.",
            ("text",), ("grounding", "retrieval", "answers"), ("retrieved_contexts",), judge=True,
            omitted=(*COMPOSED, *VARIANTS, *DEAR, *OWN),
        ),
        Preset(
            "retrieval", "Retrieval", "Whether the retrieved contexts are relevant, complete and well ranked.",
            ("text",), ("retrieval",), ("retrieved_contexts",),
        ),
        Preset(
            "answers", "Answers", "Answers against the question and the expected answers, by words and by meaning.",
            ("text",), ("answers",), ("question",), also=("rouge", "bleu"), omitted=(*COMPOSED, *OWN),
        ),
        Preset(
            "translation", "Translation", "Corpus BLEU, chrF, TER, METEOR and BERTScore against the expected answers.",
            ("text",), requires=("expected_answers",), also=(*TRANSLATION, "bertscore", "language_mismatch"),
        ),
        Preset(
            "safety", "Safety", "Toxicity, bias, personal data, secrets and hidden content in answers.",
            ("text", "agent"), ("safety",),
        ),
        Preset(
            "attacks", "Attacks", "Planted instructions, jailbreaks, leaked system prompts, refusals.",
            ("text", "agent"), ("attacks",), ("attack_condition",),
        ),
        Preset(
            "summaries", "Summaries", "Summaries against their source text: complete, faithful, coherent.", ("text",),
            ("summaries",), ("source_text",), also=("gptscore_summary",),
        ),
        Preset(
            "agent", "Agent", "Calls of tools, goal and budget; the answer by a rubric, its steps, the files made.",
            ("agent",), ("agents",), also=("fact_check",),
        ),
        Preset(
            "conversations", "Conversations", "An assistant's turns: relevance, memory, role, and the user's goals.",
            ("text", "agent"), ("conversations",), ("trace",), also=("goal_accuracy",),
        ),
        Preset(
            "code", "Code and SQL", "Code against its tests and queries against a database, run in a sandbox.",
            ("text",), ("code",),
        ),
        Preset(
            "consistency", "Consistency", "How much the answers and scores of a case vary between repeats.",
            ("text", "agent"), ("consistency",), ("repeats",),
        ),
        Preset(
            "classification", "Classification", "Precision, recall, F1, ROC AUC, curves and calibration.",
            ("classification",),
        ),
        Preset(
            "regression", "Regression", "Errors, variance explained, rank correlations and interval coverage.",
            ("regression",),
        ),
        Preset(
            "detection", "Detection", "Average precision and recall, curves, confusion and error breakdown.",
            ("detection",), omitted=BENCHMARKS,
        ),
        Preset(
            "segmentation", "Segmentation", "Intersection over union of every class, and of the boundaries.",
            ("segmentation",),
        ),
        Preset(
            USAGE, "Latency and cost", "Median and 95 % point of seconds, dollars and tokens.",
            TASKS, (USAGE,),
        ),
    )
}  # fmt: skip


def default(task: Task | str) -> Preset:
    """Return the preset to begin with for a task: the first one, which needs neither judge nor model."""
    return next(preset for preset in PRESETS.values() if task in preset.tasks)


def suitable(task: Task | str, present: Collection[str]) -> Iterator[Preset]:
    """Yield the presets for a task and what the data has."""
    return (preset for preset in PRESETS.values() if preset.suits(task, present))


def chosen_by(name: str, task: Task | str, present: Collection[str]) -> list[str]:
    """Return the evaluators of a preset that the data can feed.

    Raises InputError where there is no such preset, or none of its evaluators can be fed.
    """
    if name not in PRESETS:
        raise InputError(
            [InputProblem("preset", repr(name), one_of(name, PRESETS, "python -m metrics evaluators --presets"))]
        )
    preset = PRESETS[name]
    if not preset.suits(task, present):
        lacking = " or ".join(sorted(set(preset.requires).difference(present))).replace("_", " ")
        found = f"{name} for data of the task {task}" + (f" without {lacking}" if lacking else "")
        fitting = ", ".join(other.id for other in suitable(task, present)) or "none does"
        raise InputError([InputProblem("preset", found, f"a preset that suits the data: {fitting}")])
    return preset.runnable(task, present)
