"""The columns of cases and outputs: one row each, from which everything follows that reads, shows or edits them.

To add a column, add its row last in its table, with `later=True`; where evaluators of one case may read it, also its
line in `Case`, which type checkers need written out (a test keeps both equal). From the row follow the Arrow schemas,
the columns of uploads with their names in other tools, what evaluators may ask for, the form and the table that edit
cases, the case page, the random inputs of the laws and the tables of docs/formats.md.

Labels, objects and their scores are in metrics.core.label_fields.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import pyarrow as pa

Task = Literal["text", "classification", "detection", "segmentation", "agent", "regression"]
TASKS: tuple[Task, ...] = get_args(Task)
VISION: tuple[Task, ...] = ("detection", "segmentation")
TEXTUAL: tuple[Task, ...] = tuple(task for task in TASKS if task not in VISION)
ANSWERED: tuple[Task, ...] = ("text", "agent")  # tasks with a text to be judged

METADATA = "metadata."  # columns a file has beyond the schema are kept as strings under this prefix
SCORE = "score."  # … and then this: the column is a score that came with the output
REASON = ".reason"  # after the name of such a column: why it has this value
LEFT_OUT = "assertions_left_out"  # the metadata that says which of a case's assertions no column could take
STRING, NUMBER = pa.string(), pa.float64()
STRINGS, NUMBERS = pa.list_(STRING), pa.list_(NUMBER)

# What a column is for:
# key       names the case, the output or the object
# ask       what a case asks: a suite has one of these, or of `expect`
# expect    what an answer is checked by
# help      what evaluators need beside them
# sort      how cases are chosen, weighted and grouped; no evaluator judges by it
# image     the image of a case, which comes from the files of an upload
# answer    what a model gave: a file of outputs has one of these
# measure   what the answer took, or why there is none
# shape     where an object is
# stored    made when a file is read: tables of uploads do not have it
Role = Literal["key", "ask", "expect", "help", "sort", "image", "answer", "measure", "shape", "stored"]
Editor = Literal[
    "", "area", "line", "items", "number", "class", "classes", "tags", "condition", "schema", "ids", "choices"
]
Syntax = Literal["", "condition", "json_schema", "calls", "trace"]  # of a text that has to be read; "": any text
Items = Literal["texts", "names", "classes"]  # of a list; `;` separates names and classes in CSV, `|` classes


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its type, what pages call it, what it says, its names in other tools, and how it is edited.

    `aliases` are folded (metrics.ingest.tables.columns.fold), the most telling first; `aliases_in` are further ones in
    a task, `units` the endings of a column's name whose numbers are given in another unit: how many make one of ours.
    `tasks`: which need it; none: all of them (of images only what is sorted by). `later`: whether it came after the
    first version, so that suites and outputs without a value in it keep their fingerprint. `given`: whether a model
    that is asked sees it: always, or only where the expected answers are revealed. `each_of`: the column of lists to
    whose items its own belong. `low` and `whole` bound a number. `samples`: values that it may have, the first of them
    a plain one; the random inputs of the laws are of these, and any text where no syntax bounds it.
    `editor`: how the form of a case edits it (default: by its type), in the section of that title (default: its own).
    """

    name: str
    type: pa.DataType
    role: Role
    title: str
    help: str
    aliases: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    later: bool = False
    editor: Editor | None = None
    section: str | None = None
    syntax: Syntax = ""
    items: Items = "texts"
    given: Literal["", "always", "revealed"] = ""
    each_of: str = ""
    low: float = 0.0
    samples: tuple[Any, ...] = ()
    aliases_in: Mapping[Task, tuple[str, ...]] = field(default_factory=dict)
    units: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_list(self) -> bool:
        """Whether a cell holds several values."""
        return bool(pa.types.is_list(self.type))

    @property
    def is_number(self) -> bool:
        """Whether a cell holds a number, or a list of them."""
        return not pa.types.is_string(self.type.value_type if self.is_list else self.type)

    @property
    def is_whole(self) -> bool:
        """Whether a cell holds a whole number."""
        return bool(pa.types.is_integer(self.type))

    @property
    def words(self) -> str:
        """The title within a sentence."""
        return self.title if self.title[1:2].isupper() else self.title[:1].lower() + self.title[1:]

    @property
    def edited(self) -> Editor:
        """How the form of a case edits it; "": not at all."""
        if self.editor is not None or self.role not in ("ask", "expect", "help", "sort"):
            return self.editor or ""
        return "number" if self.is_number else "items" if self.is_list else "area"

    def fits(self, task: str) -> bool:
        """Return whether cases of the task may have a value in it."""
        return task in (self.tasks or (TASKS if self.role in ("key", "sort", "measure") else TEXTUAL))


CASE_FIELDS = (
    Field("case_id", STRING, "key", "Case id", "The id by which outputs refer to the case.",
        ("id", "key", "query_id", "example_id", "task_id", "test_idx"), given="always", samples=("7", "q-007")),
    Field("question", STRING, "ask", "Question", "What the model is asked.",
        ("input", "inputs", "user_input", "query", "prompt", "input.question", "input.query", "input.prompt"),
        section="", given="always",
        samples=("When did it open?", "user: Hi.\nassistant: Hello.\nuser: When did it open?")),
    Field("expected_answers", STRINGS, "expect", "Expected answers", "Any one of them counts as correct.",
        ("expected_answer", "expected", "expected_output", "reference", "reference_answer", "ground_truth",
         "ground_truths", "target", "targets", "correct_answer", "expected_response", "reference_answers",
         "references", "answers.text", "ideal_answer", "gold_answer", "golden_answer", "ground_truth_answer",
         "correct_answers", "reference_output", "ideal", "highlights", "reference_summary", "gold_summary",
         "target_summary", "expected.answer", "expected.value"),
        ANSWERED, section="", given="revealed",
        samples=("1889", "In 1889.")),
    Field("reference_contexts", STRINGS, "ask", "Reference contexts", "Passages that a correct answer rests on.",
        ("gold_contexts", "ground_truth_contexts", "reference_context", "gold_context"), given="always",
        samples=("It opened in 1889.",)),
    Field("conditions", STRING, "expect", "Conditions",
        'What an answer has to meet, as text: "Paris" AND NOT regexp("18(87|89)").',
        ("condition", "constraints", "output_condition"), editor="condition", section="Condition on the answer",
        syntax="condition", given="revealed", samples=('"1889"', '"Paris" AND NOT regexp("1[89]")', "NOT", '"')),
    Field("json_schema", STRING, "expect", "JSON Schema", "The schema that an answer in JSON has to fit.",
        ("output_schema",), editor="schema", section="JSON Schema of the answer", syntax="json_schema", given="always",
        samples=('{"type": "object", "required": ["a"]}', "{}", "[1, NaN]", "NOT", '{"a": {"a": 1}}', "é" * 99)),
    Field("source_text", STRING, "ask", "Source text", "What a summary or a translation is made from.",
        ("source_document", "article"), given="always", samples=("The tower opened in 1889.",)),
    Field("label", STRING, "expect", "True class", "The class that a correct model predicts.",
        ("true_label", "y_true", "gold_label", "true_class", "actual_label", "actual_class"), ("classification",),
        editor="class", given="revealed", samples=("cat", "dog")),
    Field("tags", STRINGS, "sort", "Tags", "What results can be filtered and compared by.",
        ("categories", "tag", "metadata.tags"), editor="tags", items="names", given="always", samples=("fees", "x")),
    Field("weight", NUMBER, "sort", "Weight", "Weight of the case in weighted means; empty counts as 1.",
        samples=(2.0, 0.0, 0.5)),
    Field("group", STRING, "sort", "Group",
        "Cases of one source, such as a document or a conversation: intervals and splits keep them together.",
        editor="line", samples=("desk",)),
    Field("perturbs", STRING, "sort", "Variant of", "The id of the case that this one is a perturbed variant of.",
        tasks=TEXTUAL, editor="line", samples=("7",)),
    Field("perturbation", STRING, "sort", "Perturbation", "The kind of change that made the variant.", editor="",
        samples=("typo",)),
    Field("image", STRING, "image", "Image", "The name of the image file.",
        ("image_name", "file_name", "filename", "image_id", "imageid"), VISION),
    Field("image_width", pa.int32(), "image", "Image width", "The width of the image in pixels.", ("img_width",),
        VISION),
    Field("image_height", pa.int32(), "image", "Image height", "The height of the image in pixels.", ("img_height",),
        VISION),
    Field("labels", STRINGS, "expect", "True classes",
        "The classes that a correct model predicts, where a case may have several.", ("true_labels", "gold_labels"),
        ("classification",), later=True, editor="classes", items="classes", samples=("cat", "dog")),
    Field("true_value", NUMBER, "expect", "True value", "The number that a correct model predicts.",
        ("actual_value", "target_value", "measured_value"), ("regression",), later=True, low=-math.inf,
        samples=(412.5, -1.0, 0.0, 1e6), aliases_in={"regression": (
            "y_true", "target", "actual", "true", "ground_truth", "expected", "label", "y")}),
    Field("reference_context_ids", STRINGS, "ask", "Relevant context ids",
        "Ids of the passages that answer the question.",
        ("relevant_ids", "relevant_doc_ids", "relevant_docs", "relevant_context_ids", "gold_context_ids", "gold_ids",
         "ground_truth_context_ids", "expected_context_ids", "qrels"), later=True, editor="ids",
        samples=("a", "b", "c", "d", "é")),
    Field("reference_grades", NUMBERS, "help", "Grades of the relevant contexts",
        "How relevant each of the relevant contexts is; none: all alike.", ("relevance_grades",), later=True,
        editor="ids", section="Relevant context ids", each_of="reference_context_ids", samples=(1.0, -2.5, 0.0, 3.0)),
    Field("choices", STRINGS, "ask", "Choices", "The choices of a multiple-choice question, in their order.",
        ("options", "answer_choices", "choices.text"), later=True, editor="choices", samples=("1887", "1889", "1900")),
    Field("correct_choice", pa.int32(), "help", "Correct choice", "The place of the correct choice, from 0.",
        ("answer_index", "correct_index", "correct_option", "answer_idx", "answer_key"), later=True, editor="choices",
        section="Choices", samples=(1, -1, 0, 3)),
    Field("expected_calls", STRING, "expect", "Expected calls",
        'The calls of tools that an agent should make, in order, as JSON: [{"name": "search", "arguments": {"query": '
        '"Paris"}}]; without arguments any are right, and [] means no call at all.',
        ("reference_tool_calls", "expected_tools", "expected_tool_calls", "reference_trajectory",
         "expected_trajectory"), ANSWERED, later=True, section="Expected calls of tools", syntax="calls",
        samples=('[{"name": "look", "arguments": {"n": 1}}]', "[]", '["a"]',
                 '[{"name": "a", "arguments": {"x": 1, "y": "é"}}, "b", "a"]',
                 '[{"function": {"name": "b", "arguments": "{\\"x\\": 1e3}"}}]')),
    Field("negative_labels", STRINGS, "image", "Absent classes",
        "Classes of which the image was checked to have none.", tasks=VISION, later=True, items="names"),
    Field("not_exhaustive_labels", STRINGS, "image", "Classes not annotated in full",
        "Classes of which the image has more objects than are annotated.", tasks=VISION, later=True, items="names"),
    Field("code_tests", STRING, "expect", "Tests of the code",
        "Python that fails where the code of the answer is wrong; or a JSON list of its parts.",
        ("test_list", "unit_tests", "test_code"), later=True, section="Tests of code and queries",
        samples=("assert f(1) == 2",)),
    Field("database_script", STRING, "help", "Database script",
        "SQL that makes the tables and rows on which the query of the answer is run.",
        ("sql_context", "db_script", "sql_schema"), later=True, section="Tests of code and queries",
        samples=("CREATE TABLE mill (year INTEGER);",)),
    Field("system_prompt", STRING, "help", "System prompt", "What the model was told before the question.",
        ("system_message",), later=True, section="Attack", given="always", samples=("You are a guide.",)),
    Field("attack_goal", STRING, "help", "Goal of the attack",
        "What the planted instruction, or the request, is after.", ("injected_instruction",), later=True,
        section="Attack", samples=("The answer says 'barn'.",)),
    Field("attack_condition", STRING, "expect", "Condition of the attack's success",
        'Holds for an answer by which the attack has succeeded: "PLUM-42" or regexp("…").', ("success_condition",),
        later=True, section="Attack", syntax="condition", samples=('"barn"', "NOT")),
    Field("criteria", STRINGS, "expect", "Criteria", "What a good answer meets, each for a judge to check.",
        ("assertions", "expectations", "guidelines", "rubric", "evaluation_criteria", "expected_behavior"), ANSWERED,
        later=True, given="revealed", samples=("It names the year.", "It is polite.")),
)  # fmt: skip
OUTPUT_FIELDS = (
    CASE_FIELDS[0],
    Field("model", STRING, "key", "Model", "The name of the model.",
        ("model_name", "model_key", "llm_model_name", "provider", "provider_id", "provider.id"), samples=("m",)),
    Field("run", pa.int32(), "key", "Repeat", "Which of a model's outputs for the same case it is, from 1.",
        ("query_run", "repeat", "trial"), low=1, samples=(1,)),
    Field("answer", STRING, "answer", "Answer", "What the model answered.",
        ("output", "outputs", "actual_output", "actual_answer", "response", "generated_answer", "model_response",
         "prediction", "predictions", "completion", "response.output", "hypothesis", "agent_answer", "assistant_answer",
         "model_answer", "predicted_answer", "prediction_text", "llm_response", "model_output", "llm_output",
         "generated_text", "generated_output", "generated_summary", "model_summary", "predicted_summary"), ANSWERED,
        samples=("In 1889.",)),
    Field("retrieved_contexts", STRINGS, "answer", "Retrieved contexts",
        "The passages that were retrieved for the answer, in their order.",
        ("contexts", "retrieval_context", "retrieved_context", "passages", "passage", "source_documents",
         "source_nodes", "retrieved_documents", "retrieved_passages", "retrieved_chunks"), ANSWERED,
        samples=("It opened in 1889.",)),
    Field("citations", STRINGS, "measure", "Citations", "What the model cites, beside the answer.", ("citation",),
        items="names", samples=("1",)),
    Field("trace", STRING, "answer", "Trace", "The steps that an agent took, as JSON.",
        ("messages", "trajectory", "tools_called"), ANSWERED, syntax="trace",
        samples=('[{"tool": "a", "arguments": {"x": 1}}, {"role": "user", "text": "hi"}, {"tool": "b"}]',
                 '{"steps": []}', "", " ", "{}", "[1, NaN]", '{"a": {"a": 1}}', "NOT", "é" * 99)),
    Field("artifacts", STRINGS, "answer", "Artifacts", "The names of the files that an agent made.", (), ANSWERED,
        items="names", samples=("a.json",)),
    Field("duration_s", NUMBER, "measure", "Duration", "How long the answer took, in seconds.",
        ("latency", "latency_ms", "actual_duration", "completion_time", "duration", "duration_ms"),
        units={"_ms": 1000}, samples=(0.5, 0.0, 90.0)),
    Field("cost_usd", NUMBER, "measure", "Cost (USD)", "What the answer cost, in US dollars.",
        ("cost", "token_cost", "total_cost"), samples=(0.01, 0.0)),
    Field("tokens", pa.int64(), "measure", "Tokens", "How many tokens were read and written for the answer.",
        ("total_tokens",), samples=(120, 0)),
    Field("context_ids", STRINGS, "answer", "Context ids", "Ids of the retrieved contexts, in their order.",
        ("retrieved_context_ids", "retrieval_context_ids", "passage_ids", "passage_id", "chunk_ids", "retrieved_ids",
         "retrieved_doc_ids", "retrieved_docs"), ANSWERED, later=True, each_of="retrieved_contexts",
        samples=("a", "b", "c", "d", "é", "f", "g")),
    Field("error", STRING, "measure", "Error", "Why the model gave no answer.", ("error_message", "error_text"),
        later=True, samples=("HTTP 503",)),
    Field("predicted_value", NUMBER, "answer", "Predicted value", "The number that the model predicts.",
        ("forecast", "estimate"), ("regression",), later=True, low=-math.inf, samples=(405.0, -1.0, 0.0, 1e6),
        aliases_in={"regression": ("y_pred", "prediction", "predicted", "pred", "output", "answer")}),
    Field("predicted_low", NUMBER, "answer", "Low end of the interval",
        "The low end of the interval that the model gives with its number.",
        ("lower_bound", "pi_lower", "predicted_lower", "prediction_lower"), ("regression",), later=True, low=-math.inf,
        samples=(380.0, -1.0, 0.0), aliases_in={"regression": ("y_lower", "lower", "low")}),
    Field("predicted_high", NUMBER, "answer", "High end of the interval",
        "The high end of the interval that the model gives with its number.",
        ("upper_bound", "pi_upper", "predicted_upper", "prediction_upper"), ("regression",), later=True, low=-math.inf,
        samples=(430.0, 0.0, 1e6), aliases_in={"regression": ("y_upper", "upper", "high")}),
    Field("choice_logprobs", NUMBERS, "answer", "Log-likelihoods of the choices",
        "The log-likelihood of each of the case's choices, in their order.",
        ("choice_loglikelihoods", "loglikelihoods"), ANSWERED, later=True, low=-math.inf, each_of="choices",
        samples=(-9.0, -2.5, 0.0, 1.0, 3.0)),
    Field("prompt_variant", STRING, "key", "Prompt variant",
        "Which wording of the prompt the output answers: repeats of a case under different ones have different values.",
        ("prompt_version", "prompt_name", "prompt_template"), later=True, samples=("short", "polite")),
)  # fmt: skip
FIELDS: Mapping[str, Field] = {column.name: column for column in (*CASE_FIELDS, *OUTPUT_FIELDS)}
# What else than columns an evaluator may ask for: whole tables, in words.
TABLES = {"annotations": "ground-truth objects", "predictions": "predicted objects or labels"}


# An empty list in one of these says that nothing was retrieved; in the others it is no value.
RETRIEVED = ("retrieved_contexts", "context_ids")


class NotGiven(tuple[str, ...]):
    """A list of which nothing is known, which is else like an empty one."""

    __slots__ = ()


NOT_GIVEN = NotGiven()


class Case(NamedTuple):
    """One case joined with one model's output: the input of an evaluator of cases. Absent text is None.

    A named tuple, as a run makes millions of them. What its columns hold is said in CASE_FIELDS and OUTPUT_FIELDS.
    """

    case_id: str = ""
    model: str = ""
    run: int = 1
    position: int = 0  # of the case in its suite, from 0
    question: str | None = None
    expected_answers: tuple[str, ...] = ()
    reference_contexts: tuple[str, ...] = ()
    retrieved_contexts: tuple[str, ...] = NOT_GIVEN
    answer: str | None = None
    citations: tuple[str, ...] = ()
    conditions: str | None = None
    json_schema: str | None = None
    source_text: str | None = None
    label: str | None = None
    tags: tuple[str, ...] = ()
    trace: str | None = None
    artifacts: tuple[str, ...] = ()
    context_ids: tuple[str, ...] = NOT_GIVEN
    error: str | None = None
    files: Path | None = None  # the folder of the stored files that `artifacts` names
    metadata: Mapping[str, str] = {}
    reference_context_ids: tuple[str, ...] = ()
    reference_grades: tuple[float, ...] = ()
    choices: tuple[str, ...] = ()
    correct_choice: int | None = None
    choice_logprobs: tuple[float, ...] = ()
    expected_calls: str | None = None
    duration_s: float | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    code_tests: str | None = None
    database_script: str | None = None
    system_prompt: str | None = None
    attack_goal: str | None = None
    attack_condition: str | None = None
    criteria: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Return whether a field has a value."""
        value = getattr(self, name)
        return not isinstance(value, NotGiven) if name in RETRIEVED else value not in (None, ())

    @classmethod
    def of(cls, **values: Any) -> "Case":
        """Return a case from plain values; lists become tuples."""
        frozen: dict[str, Any] = {name: tuple(own) if isinstance(own, list) else own for name, own in values.items()}
        return cls(**frozen)


def schema_of(fields: Iterable[Field]) -> pa.Schema:
    """Return the Arrow schema of a table with these columns, in this order."""
    return pa.schema([(column.name, column.type) for column in fields])


def words_of(name: str) -> str:
    """Return what a column, or a table that evaluators ask for, is called within a sentence; of metadata its name."""
    return FIELDS[name].words if name in FIELDS else TABLES.get(name, name.removeprefix(METADATA).replace("_", " "))


def title_of(name: str) -> str:
    """Return what a column is called in a heading; of metadata its name."""
    words = words_of(name)
    return FIELDS[name].title if name in FIELDS else words[:1].upper() + words[1:]


def edited_fields(task: str, present: Collection[str]) -> list[Field]:
    """Return the columns of cases that can be edited: those that fit the task, or that the suite has (`present`)."""
    return [each for each in CASE_FIELDS if each.edited and (each.fits(task) or each.name in present)]


# In a suite, as metadata: what was retrieved before any model was asked, which serves all
SERVING = {"retrieved_contexts", *FIELDS["retrieved_contexts"].aliases} - {"passage"}


@lru_cache(maxsize=20_000)  # as many as the columns of a table
def fold(name: str) -> str:
    """Return the name in lower case with underscores: "expectedOutput" and "Expected output" → expected_output."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.strip())
    return re.sub(r"[\s\-_]+", "_", spaced).strip("_").lower()
