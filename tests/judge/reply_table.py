"""Replies as models give them, each with what must be read of it, or the reason why it must not be read."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from metrics.judge.asking import ItemReply, Reply
from metrics.judge.grading import Grade
from metrics.judge.replies import items_of
from metrics.judge.steps import Entailment, YesNoReply


class Verdict(Reply):
    reason: str = ""
    verdict: Literal["yes", "no"]


class Claims(Reply):
    claims: list[str]


class Assigned(ItemReply):
    reason: str = ""
    assignment: Literal["support", "partial_support", "not_support"]


class Coherence(Reply):
    reason: str = ""
    coherence: Literal[1, 2, 3, 4, 5]


class Passing(Reply):
    reason: str = ""
    verdict: bool


class Scored(Reply):
    evaluation_summary: str = ""
    evaluation_score: Annotated[float, Field(ge=0, le=1)]


class Better(Reply):
    reason: str = ""
    better: Literal["1", "2", "Tie"]


VERDICTS = items_of(YesNoReply, "CLAIMS")
ENTAILED = items_of(Entailment, "CLAIMS")
ASSIGNED = items_of(Assigned, "NUGGETS")


@dataclass(frozen=True)
class Given:
    """A reply to a form; `count` items were asked about. `read`: the values expected; `why`: part of the complaint."""

    id: str
    form: type[BaseModel]
    text: str
    read: Any = None
    why: str = ""
    count: int = 0


def verdicts(*labels: str) -> dict[int, Any]:
    return {number: {"verdict": label} for number, label in enumerate(labels, 1)}


def supported(*lists: list[int]) -> dict[int, Any]:
    return {number: {"supported_by": found} for number, found in enumerate(lists, 1)}


YES, NO = {"verdict": "yes"}, {"verdict": "no"}
TWO = ["The tower is 330 m high.", "It was built in 1889."]
LISTED = '{"claims": ["The tower is 330 m high.", "It was built in 1889."]}'
GRADES = {"match": 3, "trust": 2, "grade": 2}

READ = [
    # as the large hosted models write
    Given("as asked for", Verdict, '{"reason": "It follows.", "verdict": "yes"}', YES | {"reason": "It follows."}),
    Given("Markdown fence", Verdict, '```json\n{\n  "reason": "It follows.",\n  "verdict": "yes"\n}\n```', YES),
    Given("fence without a language", Verdict, '```\n{"verdict": "no"}\n```', NO),
    Given("fence that is not closed", Verdict, '```json\n{"verdict": "no"}', NO),
    Given(
        "words, fence, words", Verdict, 'Here\'s my evaluation:\n\n```json\n{"verdict": "no"}\n```\n\nLet me know!', NO
    ),
    Given(
        "words before", Verdict, 'Looking at the context, the claim holds.\n\n{"reason": "ok", "verdict": "yes"}', YES
    ),
    Given("no line break before", Verdict, 'Sure! {"verdict": "yes"}', YES),
    Given(
        "two fences with the same",
        Verdict,
        '```json\n{"verdict": "yes"}\n```\nAgain:\n```\n{"verdict":"yes"}\n```',
        YES,
    ),
    Given("pretty printed with a BOM", Verdict, '\ufeff{\n\t"verdict" : "no"\n}', NO),
    Given("more keys than asked for", Verdict, '{"verdict": "yes", "confidence": 0.93, "sources": []}', YES),
    Given("other case of the keys", Verdict, '{"Reason": "x", "Verdict": "yes"}', YES | {"reason": "x"}),
    Given("explanation for reason", Verdict, '{"explanation": "so", "verdict": "no"}', NO | {"reason": "so"}),
    Given("answer for verdict", Verdict, '{"answer": "no", "reason": "so"}', NO | {"reason": "so"}),
    Given("JSON in a string", Verdict, '"{\\"reason\\": \\"x\\", \\"verdict\\": \\"yes\\"}"', YES),
    Given("a list of one", Verdict, '[{"reason": "x", "verdict": "yes"}]', YES),
    # labels
    Given("capital label", Verdict, '{"reason": "x", "verdict": "Yes"}', YES),
    Given("label with a full stop", Verdict, '{"reason": "x", "verdict": "Yes."}', YES),
    Given("bold label", Verdict, '{"reason": "x", "verdict": "**yes**"}', YES),
    Given("label in quotes", Verdict, '{"verdict": "\'no\'"}', NO),
    Given("true", Verdict, '{"reason": "x", "verdict": true}', YES),
    Given("false as text", Verdict, '{"reason": "x", "verdict": "False"}', NO),
    Given("label and why", Verdict, '{"verdict": "No, the context gives another year."}', NO),
    Given("label in a list", Verdict, '{"verdict": ["yes"]}', YES),
    Given("null reason", Verdict, '{"reason": null, "verdict": "yes"}', YES | {"reason": ""}),
    Given("reasons in a list", Verdict, '{"reason": ["a", "b"], "verdict": "yes"}', YES | {"reason": "a b"}),
    Given("an object as reason", Verdict, '{"reason": {"premise": "x"}, "verdict": "yes"}', YES | {"reason": ""}),
    Given(
        "shouted label",
        ASSIGNED,
        '[{"id": 1, "assignment": "PARTIAL SUPPORT"}]',
        {1: {"assignment": "partial_support"}},
        count=1,
    ),
    Given(
        "label with a dash",
        ASSIGNED,
        '[{"id": 1, "assignment": "Not-Support"}]',
        {1: {"assignment": "not_support"}},
        count=1,
    ),
    Given("boolean asked for, yes said", Passing, '{"verdict": "Yes"}', {"verdict": True}),
    Given("number for a label", Better, '{"better": 2}', {"better": "2"}),
    Given("other case of a label", Better, '{"better": "tie"}', {"better": "Tie"}),
    # numbers
    Given("grades as text", Grade, '{"intent": "x", "match": "3", "trust": "2", "grade": "2"}', GRADES),
    Given("grades as floats", Grade, '{"intent": "x", "match": 3.0, "trust": 2.0, "grade": 2.0}', GRADES),
    Given("grade of a scale", Coherence, '{"coherence": "4/5"}', {"coherence": 4}),
    Given("grade in words", Coherence, '{"coherence": "Score: 4"}', {"coherence": 4}),
    Given("score as text", Scored, '{"evaluation_score": "0.85"}', {"evaluation_score": 0.85}),
    # small open models: syntax
    Given(
        "trailing commas",
        VERDICTS,
        '{"replies": [{"id": 1, "verdict": "yes",}, {"id": 2, "verdict": "no",},]}',
        verdicts("yes", "no"),
        count=2,
    ),
    Given("single quotes", Verdict, "{'reason': 'it\\'s so', 'verdict': 'yes'}", YES),
    Given("single quotes, apostrophe", Verdict, "{'reason': 'it's so', 'verdict': 'yes'}", YES | {"reason": "it's so"}),
    Given("smart quotes", Verdict, "{“reason”: “so it is”, “verdict”: “no”}", NO | {"reason": "so it is"}),
    Given("names without quotes", Verdict, '{reason: "so", verdict: "yes"}', YES),
    Given("Python's literals", Verdict, "{'reason': None, 'verdict': True}", YES),
    Given("missing closing brace", Verdict, '{"reason": "x", "verdict": "yes"', YES),
    Given("missing brace in a fence", Verdict, '```json\n{"reason": "x", "verdict": "yes"\n```', YES),
    Given("one brace too many", Verdict, '{"reason": "x", "verdict": "yes"}}', YES),
    Given("missing comma", Verdict, '{"reason": "x" "verdict": "yes"}', YES),
    Given(
        "line break in a string",
        Verdict,
        '{"reason": "first\nsecond", "verdict": "yes"}',
        YES | {"reason": "first\nsecond"},
    ),
    Given(
        "quotes that are not escaped",
        Verdict,
        '{"reason": "He said "no" to it", "verdict": "yes"}',
        YES | {"reason": 'He said "no" to it'},
    ),
    Given("a quote that is not escaped", Verdict, '{"reason": "5\' 11" tall", "verdict": "no"}', NO),
    Given("backslashes that are not escaped", Verdict, '{"reason": "in C:\\data", "verdict": "no"}', NO),
    Given("comments", Verdict, '{"reason": "x", // so\n "verdict": "yes" /* sure */}', YES),
    Given("NaN", Verdict, '{"reason": NaN, "verdict": "yes"}', YES),
    Given("braces in a string", Verdict, '{"reason": "the set {1} and [", "verdict": "yes",}', YES),
    Given("the form filled in", Verdict, '{"properties": {"reason": "x", "verdict": "yes"}}', YES),
    # wrappings
    Given("result", Verdict, '{"result": {"reason": "x", "verdict": "yes"}}', YES),
    Given("output in a string", Verdict, '{"output": "{\\"verdict\\": \\"no\\"}"}', NO),
    Given("tool call", Verdict, '{"name": "grade", "arguments": {"reason": "x", "verdict": "yes"}}', YES),
    Given("tool call, arguments as text", Verdict, '{"name": "grade", "arguments": "{\\"verdict\\": \\"yes\\"}"}', YES),
    Given(
        "tool call in tags", Verdict, '<tool_call>\n{"name": "grade", "arguments": {"verdict": "no"}}\n</tool_call>', NO
    ),
    Given(
        "list of tool calls",
        Verdict,
        '[{"type": "function", "function": {"name": "f", "arguments": "{\\"verdict\\": \\"no\\"}"}}]',
        NO,
    ),
    Given("answer tags", Verdict, '<answer>{"verdict": "yes"}</answer>', YES),
    # reasoning models
    Given(
        "think", Verdict, '<think>\nFirst I see {"verdict": "no"}, but then [1] …\n</think>\n\n{"verdict": "yes"}', YES
    ),
    Given(
        "think without its opening", Verdict, 'The claim is in [2], so it holds.\n</think>\n\n{"verdict": "yes"}', YES
    ),
    Given("thinking and a fence", Verdict, '<thinking>Let me see.</thinking>\n```json\n{"verdict": "no"}\n```', NO),
    Given("other marks of thoughts", Verdict, '[THINK]Hm.[/THINK]{"verdict": "no"}', NO),
    Given("empty thoughts", Verdict, '<think>\n\n</think>\n\n{"reason": "x", "verdict": "no"}', NO),
    Given(
        "channels",
        Verdict,
        '<|channel|>analysis<|message|>We need {"verdict": "no"}?<|end|><|start|>assistant<|channel|>final<|message|>'
        '{"verdict": "yes"}<|return|>',
        YES,
    ),
    Given(
        "call in a channel",
        Verdict,
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.grade "
        '<|constrain|>json<|message|>{"verdict": "yes"}<|call|>',
        YES,
    ),
    Given(
        "reasoning and final answer",
        Verdict,
        'Reasoning: the year differs.\nFinal answer: {"reason": "year", "verdict": "no"}',
        NO,
    ),
    # words
    Given("yes", Verdict, "Yes", YES),
    Given("yes, bold, with a full stop", Verdict, "**Yes.**", YES),
    Given("no, with why", Verdict, "No. The context gives 1890.", NO),
    Given("a JSON string", Verdict, '"no"', NO),
    Given("true alone", Passing, "true", {"verdict": True}),
    Given("name and label", Verdict, "Verdict: no", NO),
    Given(
        "reasons, then the label",
        Verdict,
        "The claim gives 1889.\nThe context does, too.\n\n**Final answer:** Yes",
        YES,
    ),
    Given("names and values", Grade, "intent: height\nmatch: 3\ntrust: 2\ngrade: 2", GRADES),
    Given("thoughts, then a word", Verdict, "<think>1889 it is.</think>\nYes", YES),
    # lists of texts
    Given("a bare list", Claims, '["The tower is 330 m high.", "It was built in 1889."]', {"claims": TWO}),
    Given(
        "objects with the text",
        Claims,
        '{"claims": [{"claim": "The tower is 330 m high."}, {"claim": "It was built in 1889."}]}',
        {"claims": TWO},
    ),
    Given(
        "objects with id and text",
        Claims,
        '[{"id": 1, "text": "The tower is 330 m high."}, {"id": 2, "text": "It was built in 1889."}]',
        {"claims": TWO},
    ),
    Given(
        "statements",
        Claims,
        '{"claims": [{"statement": "The tower is 330 m high."}, {"statement": "It was built in 1889."}]}',
        {"claims": TWO},
    ),
    Given(
        "keyed by number",
        Claims,
        '{"claims": {"1": "The tower is 330 m high.", "2": "It was built in 1889."}}',
        {"claims": TWO},
    ),
    Given("another name", Claims, '{"facts": ["The tower is 330 m high.", "It was built in 1889."]}', {"claims": TWO}),
    Given("one text for a list of one", Claims, '{"claims": "The tower is 330 m high."}', {"claims": TWO[:1]}),
    Given(
        "numbered lines",
        Claims,
        "Here are the claims:\n\n1. The tower is 330 m high.\n2. It was built in 1889.",
        {"claims": TWO},
    ),
    Given("bullets", Claims, "- The tower is 330 m high.\n- It was built in 1889.", {"claims": TWO}),
    Given(
        "lines in a string",
        Claims,
        '{"claims": "1. The tower is 330 m high.\\n2. It was built in 1889."}',
        {"claims": TWO},
    ),
    Given("list closed, object not", Claims, LISTED[:-1], {"claims": TWO}),
    Given("no claims", Claims, '{"claims": null}', {"claims": []}),
    Given("a list in a fence", Claims, f"```json\n{LISTED}\n```", {"claims": TWO}),
    # numbered items
    Given(
        "one object for a list of one", VERDICTS, '{"id": 1, "reason": "x", "verdict": "yes"}', verdicts("yes"), count=1
    ),
    Given(
        "id in brackets",
        VERDICTS,
        '{"replies": [{"id": "[1]", "verdict": "yes"}, {"id": "[2]", "verdict": "no"}]}',
        verdicts("yes", "no"),
        count=2,
    ),
    Given(
        "ids in several ways",
        VERDICTS,
        '[{"id": "1.", "verdict": "yes"}, {"id": "#2", "verdict": "no"}, {"id": 3.0, "verdict": "no"}, '
        '{"id": "claim 4", "verdict": "yes"}]',
        verdicts("yes", "no", "no", "yes"),
        count=4,
    ),
    Given("without ids", VERDICTS, '[{"verdict": "yes"}, {"verdict": "no"}]', verdicts("yes", "no"), count=2),
    Given("labels only", VERDICTS, '["yes", "no", "Yes."]', verdicts("yes", "no", "yes"), count=3),
    Given("keyed by id", VERDICTS, '{"1": {"verdict": "yes"}, "2": {"verdict": "no"}}', verdicts("yes", "no"), count=2),
    Given("label by id", VERDICTS, '{"replies": {"1": "yes", "2": "no"}}', verdicts("yes", "no"), count=2),
    Given(
        "an object a line",
        VERDICTS,
        '{"id": 1, "verdict": "yes"}\n{"id": 2, "verdict": "no"}',
        verdicts("yes", "no"),
        count=2,
    ),
    Given("numbered labels", VERDICTS, "1. Yes\n2. **No** - the year differs", verdicts("yes", "no"), count=2),
    Given(
        "one bad item",
        VERDICTS,
        '[{"id": 1, "verdict": "yes"}, {"id": 2, "verdict": "maybe"}, {"id": 3, "verdict": "no"}]',
        {1: YES, 3: NO},
        count=3,
    ),
    Given(
        "an item twice, differently",
        VERDICTS,
        '[{"id": 1, "verdict": "yes"}, {"id": 2, "verdict": "no"}, {"id": 1, "verdict": "no"}]',
        {2: NO},
        count=2,
    ),
    Given(
        "end of the list missing",
        VERDICTS,
        '{"replies": [{"id": 1, "verdict": "yes"}, {"id": 2, "verdict": "no"}',
        verdicts("yes", "no"),
        count=2,
    ),
    Given(
        "supported by one",
        ENTAILED,
        '[{"id": 1, "supported_by": 1}, {"id": 2, "supported_by": "2"}]',
        supported([1], [2]),
        count=2,
    ),
    Given(
        "supported by, as text",
        ENTAILED,
        '[{"id": 1, "supported_by": "[1, 2]"}, {"id": 2, "supported_by": "1 and 3"}]',
        supported([1, 2], [1, 3]),
        count=2,
    ),
    Given(
        "supported by none",
        ENTAILED,
        '[{"id": 1, "supported_by": null}, {"id": 2, "supported_by": "none"}]',
        supported([], []),
        count=2,
    ),
    Given(
        "supported by contexts",
        ENTAILED,
        '[{"id": 1, "supported_by": ["[1]", "context 2"]}]',
        supported([1, 2]),
        count=1,
    ),
    Given("lists by id", ENTAILED, '{"1": [1, 2], "2": []}', supported([1, 2], []), count=2),
]

UNREAD = [
    Given("empty", Verdict, "  ", why="the judge's reply is empty"),
    Given("refusal", Verdict, "I'm sorry, but I can't help with that.", why="the judge refused to answer; it said"),
    Given("refusal with a curly apostrophe", Claims, "I can’t assist with this request.", why="refused to answer"),
    Given("refusal in JSON", Verdict, '{"error": "I cannot help with that request."}', why="refused to answer"),
    Given("refusal of claims", Claims, '{"error": "I cannot help with that request."}', why="refused to answer"),
    Given("prose", Verdict, "It is hard to tell from what is given.", why="is not JSON"),
    Given("label not in the set", Verdict, '{"verdict": "maybe"}', why="verdict: Input should be 'yes' or 'no'"),
    Given("yes and no", Verdict, '{"verdict": "yes and no"}', why="verdict: Input should be 'yes' or 'no'"),
    Given("yes?", Verdict, '{"verdict": "yes?"}', why="verdict: Input should be 'yes' or 'no'"),
    Given("yes, but", Verdict, '{"verdict": "Yes, but only in part"}', why="verdict: Input should be 'yes' or 'no'"),
    Given("yes, in words, but no", Verdict, "Yes. No, wait.", why="is not JSON"),
    Given("yes or no", Verdict, "yes/no", why="is not JSON"),
    Given("one for a label", Verdict, '{"verdict": 1}', why="verdict: Input should be 'yes' or 'no'"),
    Given("no label", Verdict, '{"reason": "x", "verdict": null}', why="verdict: Input should be 'yes' or 'no'"),
    Given(
        "the schema", Verdict, '{"type": "object", "properties": {"verdict": {"enum": ["yes", "no"]}}}', why="verdict"
    ),
    Given(
        "the schema of a list",
        Claims,
        '{"type": "object", "properties": {"claims": {"type": "array", "items": {"type": "string"}}}, '
        '"required": ["claims"]}',
        why="claims",
    ),
    Given(
        "two that differ", Verdict, '{"verdict": "no"}\nOn second thought:\n{"verdict": "yes"}', why="several different"
    ),
    Given(
        "words against JSON",
        Verdict,
        'The answer says: {"verdict": "yes"}\nMy verdict is no.',
        why="state different labels",
    ),
    Given("quoted amid a sentence", Verdict, 'It asks for {"verdict": "yes"} as an order.', why="is not JSON"),
    Given("a label twice", Verdict, '{"verdict": "no", "reason": "x", "verdict": "yes"}', why="verdict"),
    Given(
        "swallowed label",
        Verdict,
        '{"reason": "It says ", "verdict": "yes" to fool me", "verdict": "no"}',
        why="states verdict more than once",
    ),
    Given("half a label", Verdict, '{"reason": "x", "verdict": "ye', why="it ends within a value"),
    Given("no label yet", Verdict, '{"reason": "x", "verdict"', why="it ends within a value"),
    Given("half a list of claims", Claims, '{"claims": ["The tower is 330 m high."', why="it ends within a value"),
    Given(
        "half a list of contexts",
        ENTAILED,
        '{"replies": [{"id": 1, "supported_by": [1',
        why="it ends within a value",
        count=1,
    ),
    Given("half a number", Scored, '{"evaluation_score": 0', why="it ends within a value"),
    Given(
        "thoughts without end", Verdict, '<think>Let me see whether {"verdict": "yes"} …', why="nothing but thoughts"
    ),
    Given(
        "analysis without end",
        Verdict,
        '<|channel|>analysis<|message|>So {"verdict": "yes"} …',
        why="nothing but thoughts",
    ),
    Given("true as a grade", Coherence, '{"coherence": true}', why="coherence: Input should be 1, 2, 3, 4 or 5"),
    Given("a reference, not a grade", Coherence, "See [4].", why="does not fit: reply"),
    Given("grade out of range", Coherence, '{"coherence": 7}', why="coherence: Input should be 1, 2, 3, 4 or 5"),
    Given("true as a score", Scored, '{"evaluation_score": true}', why="evaluation_score"),
    Given("too few without ids", VERDICTS, '[{"verdict": "yes"}]', {}, count=2),
    Given("not supported, as text", ENTAILED, '[{"id": 1, "supported_by": "not 1"}]', why="supported_by", count=1),
    Given("a range of contexts", ENTAILED, '[{"id": 1, "supported_by": "1-3"}]', why="supported_by", count=1),
    Given("true for contexts", ENTAILED, '[{"id": 1, "supported_by": true}]', why="supported_by", count=1),
    Given(
        "contradicted by", ENTAILED, '[{"id": 1, "contradicted_by": [1]}]', why="supported_by: Field required", count=1
    ),
    Given(
        "supported and unsupported", Claims, '{"supported": ["a"], "unsupported": ["b"]}', why="claims: Field required"
    ),
    Given("brackets without end", Verdict, "[" * 200_000, why="nested deeper than 64 levels"),
]
