"""Presets: the questions that an evaluation answers, each with the evaluators that answer it, by task.

The page Evaluate offers them as "What do you want to know?", the command as `--preset`; what runs unasked is made of
them, too, so that page, command and Python choose the same. The headline counts wins and losses by question.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from metrics.core.conventions import CONVENTIONS
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.evaluator import JUDGE, Evaluator
from metrics.core.fields import ANSWERED, TASKS
from metrics.core.registry import evaluators
from metrics.core.suite import Task

MAX_UNASKED = 6  # evaluators that run unasked
RUN_CODE = ("code_execution", "sql_execution", "pass_at_k")  # run what a model wrote, or follow that
CRITERIA = "criteria"  # the preset whose evaluator says nothing before the user has written a criterion
CLAIMS = "claims"
FEW_OUTPUTS = "few_outputs"  # what data has on which a local model takes seconds or minutes, not hours


@dataclass(frozen=True, slots=True)
class Preset:
    """A question, and the evaluators that answer it for suites of some tasks, the most telling first.

    `requires` is what the data must have for the question to make sense. `unasked` is what it must have for the preset
    to be chosen without being asked for; None: never. `also` are evaluators that answer it, too, of other presets or of
    none: where they run, the headline counts them to this question.
    """

    id: str
    title: str
    summary: str
    tasks: tuple[Task, ...]
    answered_by: tuple[str, ...]
    requires: tuple[str, ...] = ()
    unasked: tuple[str, ...] | None = None
    also: tuple[str, ...] = ()

    def evaluators(self, task: Task | str) -> list[Evaluator]:
        """Return its evaluators for a task."""
        known = evaluators()
        held = (known[id] for id in self.answered_by) if task in self.tasks else ()
        return [entry for entry in held if task in entry.tasks]

    def runnable(self, task: Task | str, present: Collection[str]) -> list[str]:
        """Return the ids of those that the data can feed; `present` is what it has (see available_inputs)."""
        has = frozenset(present)
        fitting = (entry for entry in self.evaluators(task) if not entry.lacking(has.__contains__))
        return [entry.id for entry in fitting if has.issuperset(entry.default_needs)]

    def suits(self, task: Task | str, present: Collection[str]) -> bool:
        """Return whether the preset is for the task and the data has what it is about."""
        return task in self.tasks and set(self.requires).issubset(present) and bool(self.runnable(task, present))


PRESETS = {
    preset.id: preset
    for preset in (
        Preset(
            "scores", "Scores you have", "The numbers that came with the outputs.", ANSWERED, ("own_scores",),
            unasked=(),
        ),
        Preset(
            "tools", "Right tool calls?", "Whether the expected tools were called with the expected arguments.",
            ANSWERED, ("tool_calls",), unasked=(),
        ),
        Preset(
            "limits", "Within the set limits?", "Seconds, dollars and tokens, where cases say how many are allowed.",
            ("text",), ("agent_budget",), ("set_budgets",), (),
        ),
        Preset(
            "grounded", "Grounded?", "Whether the retrieved contexts support the answers; without a judge.", ("text",),
            ("groundedness", "hallucination_hhem"), ("retrieved_contexts",), (),
            ("faithfulness", "hallucination_claims", "hallucination_contexts", "citation"),
        ),
        Preset(
            "right", "Right?", "Whether answers say what is expected.", ("text",),
            ("exact_match", "token_f1", "rouge", "answer_semantic_similarity", "classification_text",
             "multiple_choice", "text_matching"), unasked=(),
            also=("bleu", "corpus_bleu", "chrf", "meteor", "ter", "bertscore", "edit_distance", "corpus_error_rate",
                  "answer_semantic_sentence_similarity", "answer_correctness", "answer_correctness_weighted"),
        ),
        Preset(
            "accuracy", "Most accurate?", "Which model predicts best.",
            ("classification", "regression", "detection", "segmentation"),
            ("classification", "multilabel", "roc_auc", "hierarchical_classification", "regression",
             "coco_summary", "average_precision", "keypoint_summary", "segmentation_iou"), unasked=(),
        ),
        Preset(
            "retrieval", "Retrieval?", "Whether the retrieved contexts fit the question and are well ranked.",
            ("text",), ("ranking", "context_mrr"), unasked=("own_contexts",),
            also=("context_recall", "context_precision", "context_relevance", "context_relevancy_sentences",
                  "context_relevancy_soft", "umbrela"),
        ),
        Preset(
            CLAIMS, "Claim by claim", "Grounding, correctness, relevance and retrieval, judged claim by claim.",
            ("text",), ("faithfulness", "answer_correctness", "answer_relevance", "context_recall",
                        "context_precision", "citation"),
        ),
        Preset(
            "safety", "Safe?", "Personal data, secrets, hidden content and toxicity in answers.", ANSWERED,
            ("pii_leakage", "sensitive_data_leakage", "encoding_guardrail", "toxicity_classifier", "toxicity", "bias"),
            also=("contact_information", "fairness_bias", "sexism", "stereotypes"),
        ),
        Preset(
            "format", "Format?", "Whether answers keep to the JSON that is asked for.", ("text",), ("json_schema",),
            unasked=(),
        ),
        Preset(CRITERIA, "My criterion", "Criteria in your own words, rated by a judge.", ANSWERED, ("g_eval",)),
        Preset(
            "attacks", "Attacks withstood?", "Planted instructions obeyed, system prompts leaked, wrong refusals.",
            ANSWERED, ("prompt_injection", "system_prompt_leakage", "refusal_balance"), ("attack_condition",), (),
        ),
        Preset(
            "jailbreaks", "Jailbroken?", "Whether answers give what they should refuse, and refuse what they should "
            "give.", ANSWERED, ("jailbreak_success", "refusals"),
            ("attack_goal",),
        ),
        Preset(
            "steps", "Right steps?", "Whether an agent's answer lists the expected steps, in their order.", ("agent",),
            ("step_alignment",), unasked=(),
        ),
        Preset(
            "spending", "Within budget?", "Steps, calls, tokens, dollars and seconds of an agent.", ("agent",),
            ("agent_budget",), unasked=(),
        ),
        Preset(
            "files", "Files intact?", "Whether the files that an agent made can be read.", ANSWERED,
            ("agent_sanity",), ("artifacts",), (),
        ),
        Preset(
            "goals", "Goal reached?", "Whether the agent did what was asked, and how well by a rubric.", ("agent",),
            ("goal_accuracy", "rubric"),
        ),
        Preset(
            "mistakes", "Where are the mistakes?", "Errors by kind and class.", ("classification", "detection"),
            ("classification_pr_curve", "detection_confusion", "error_breakdown"),
            unasked=(),
        ),
        Preset(
            "cutoffs", "Which score threshold?", "Precision, recall and F1 at each score threshold.", ("detection",),
            ("detection_pr_curve",), unasked=(),
        ),
        Preset(
            "calibrated", "Calibrated?", "Whether a score is the probability of being right.",
            ("classification", "detection"), ("calibration", "selective_accuracy"), unasked=(),
        ),
        Preset(  # not unasked: numbers that name classes, such as digits, are in no order
            "grades", "How far off?", "Classes in an order, such as grades: how far predictions are from the truth.",
            ("classification",), ("ordinal",), ("ordered_labels",),
        ),
        Preset(
            "intervals", "Intervals right?", "How often a model's own interval holds the true value.",
            ("regression",), ("interval_coverage",), unasked=(),
        ),
        Preset(
            "segments", "Segments right?", "Panoptic quality: segments of things and stuff.", ("segmentation",),
            ("panoptic_quality",), unasked=(),
        ),
        Preset(
            "consistency", "Same each time?", "How much the answers of a case vary between repeats.", ANSWERED,
            ("consistency_rouge", "consistency_statistics"), ("repeats",), (),
            ("consistency_bertscore",),
        ),
        Preset(
            "summaries", "Good summaries?", "Complete, faithful, coherent.", ("text",),
            ("summarization_completeness_faithfulness", "summarization_judge", "summary_coherence"), ("source_text",),
        ),
        Preset(
            "conversations", "Good conversations?", "The assistant's turns: relevance, memory, role, the user's goals.",
            ANSWERED, ("turn_relevance", "knowledge_retention", "role_adherence", "conversation_goal",
                       "topic_adherence", "goal_accuracy"), ("trace",),
        ),
        Preset(
            "code", "Does the code work?", "Code against its tests and queries against a database, in a sandbox.",
            ("text",), RUN_CODE,
        ),
        Preset(
            "topic", "On topic?", "How close answers come to the subject of the question.", ("text",),
            ("answer_relevancy_sentence",), also=("answer_relevance", "answer_relevancy"),
        ),
        Preset(
            "translation", "Good translations?", "Corpus BLEU, chrF, TER, METEOR and BERTScore.", ("text",),
            ("corpus_bleu", "chrf", "ter", "meteor", "bertscore", "language_mismatch"), ("expected_answers",),
        ),
        Preset(
            "style", "Well written?", "Readability, the right language, no loops.", ANSWERED,
            ("readability", "language_mismatch", "looping_detection"), also=("language_mismatch",),
        ),
        Preset("usage", "Fast and cheap?", "Seconds, dollars and tokens.", TASKS, ("latency", "cost", "tokens")),
    )
}  # fmt: skip

UNASKED = "quick"  # in place of a preset: those that are chosen without being asked for
TOGETHER: Mapping[str, tuple[str, ...]] = {  # several presets by one name
    "rag": ("right", "grounded", "retrieval"), "rag_judge": (CLAIMS,), "answers": ("right", "topic"),
    "agent": ("tools", "steps", "spending", "files", "goals"), "classification": ("accuracy", "mistakes", "calibrated"),
    "regression": ("accuracy", "intervals"), "detection": ("accuracy", "mistakes", "cutoffs", "calibrated"),
    "segmentation": ("accuracy", "segments"),
}  # fmt: skip
OF_SYSTEMS = {  # the evaluators of other systems, never proposed
    one.id: Preset(one.id, f"As {one.title}", f"The evaluators of {one.title}.", ANSWERED, tuple(one.thresholds))
    for one in CONVENTIONS.values()
}
ASKING = [one for one in reversed(PRESETS.values()) if one.title.endswith("?") and {*ANSWERED} & {*one.tasks}]
QUESTIONS: Mapping[str, str] = {  # by evaluator of texts or agents: the preset that has it `also`, else the first
    **{id: preset.title for preset in ASKING for id in preset.answered_by},
    **{id: preset.title for preset in ASKING for id in preset.also},
}
FALLBACK = ("topic", "style")  # what runs where nothing else is worth running unasked


def suitable(task: Task | str, present: Collection[str]) -> Iterator[Preset]:
    """Yield the presets for a task and what the data has."""
    return (preset for preset in PRESETS.values() if preset.suits(task, present))


def unasked(
    task: Task | str, present: Collection[str], unavailable: Callable[[str], object] = lambda _: None
) -> list[Preset]:
    """Return the presets that are chosen without being asked for, MAX_UNASKED evaluators at most.

    They need no judge, and no model that is `unavailable` to the evaluator of that id.
    """
    chosen: list[Preset] = []
    held: set[str] = set()
    for preset in suitable(task, present):
        more = held.union(computable(preset, task, present, unavailable))
        wanted = preset.unasked is not None and set(preset.unasked).issubset(present)
        if wanted and held < more and len(more) <= MAX_UNASKED:
            chosen.append(preset)
            held = more
    fallback = (PRESETS[id] for id in FALLBACK)
    return chosen or [each for each in fallback if computable(each, task, present, unavailable)][:1]


def computable(
    preset: Preset, task: Task | str, present: Collection[str], unavailable: Callable[[str], object] = lambda _: None
) -> list[str]:
    """Return the evaluators of a preset that can be computed at once: fed by the data, without a judge, models here."""
    needs = {id: evaluators()[id].needs for id in preset.runnable(task, present)}
    free = (id for id, own in needs.items() if JUDGE not in own)
    return [id for id in free if not needs[id] or (FEW_OUTPUTS in present and not unavailable(id))]


def named(names: str) -> list[Preset]:
    """Return the presets of some names, separated by commas. InputError where there is no such preset."""
    known = PRESETS | OF_SYSTEMS
    found: dict[str, Preset] = {}
    for name in filter(None, (name.strip() for name in names.split(","))):
        if name not in known and name not in TOGETHER:
            expected = one_of(name, (UNASKED, *known, *TOGETHER), "python -m metrics evaluators --presets")
            raise InputError([InputProblem("preset", repr(name), expected)])
        found |= {id: known[id] for id in TOGETHER.get(name, (name,))}
    return list(found.values())


def chosen_by(names: str, task: Task | str, present: Collection[str]) -> list[str]:
    """Return the evaluators of presets, by names separated by commas, that the data can feed.

    Raises InputError where there is no such preset, or none of its evaluators can be fed.
    """
    asked = named(names)
    fed = [preset for preset in asked if preset.suits(task, present)]
    if not fed:
        lacking = {name for preset in asked if task in preset.tasks for name in preset.requires} - set(present)
        words = " or ".join(sorted(lacking)).replace("_", " ")
        found = f"{names} for data of the task {task}" + (f" without {words}" if words else "")
        fitting = ", ".join(other.id for other in suitable(task, present)) or "none does"
        raise InputError([InputProblem("preset", found, f"a preset that suits the data: {fitting}")])
    return list(dict.fromkeys(id for preset in fed for id in preset.runnable(task, present)))
