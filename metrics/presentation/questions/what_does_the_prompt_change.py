"""What does the prompt change, and is it the same for every model? For suites whose board declares prompts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from metrics.analysis.comparison.compare import compare
from metrics.analysis.comparison.factors import ALL, Effect, MetricFactors, TwoFactors, factor_effects
from metrics.presentation.blocks import Block, Head, Link, Note, Sentence, Table, table, table_of
from metrics.presentation.format import count, interval, p_value, plural, shorten
from metrics.presentation.phrases import metric_title, named, paired_on, signed, significance, with_interval
from metrics.presentation.question import QUICK, question
from metrics.presentation.questions.is_it_better import answer as is_better
from metrics.store import Run
from metrics.store.board_settings import Boards

MAX_METRICS = 3  # with a sentence and a table of cells each
MAX_PROMPTS = 8  # columns of that table
MAX_PAIRS = 6  # of models, and of prompts, in a metric's effects
LONGEST = 44  # characters of a name in a sentence
NO_GRID = "What the prompt changes cannot be told from what the model does: no two models have the same two prompts"
INTERACTION = (
    "Two models and two prompts: how much more the prompt gains with this model. More: by how much model and prompt "
    "together are above what each has by itself, where that is surest."
)


@question("comparison", "Prompts", "What does the prompt change?", "compare", short=QUICK, place=1)
def what_does_the_prompt_change(run: Run) -> list[Block]:
    """Return what prompts change in the run's main metrics; nothing unless its suite's board declares prompts."""
    if not (factors := declared_factors(run)):
        return []
    found = factor_effects(run, factors)
    if not found.models:
        return [Sentence(f"{NO_GRID}."), *_of_one_model(run, factors)]
    told = [metric for metric in found.metrics if metric.effects]
    first = told[:MAX_METRICS]
    link = Link("compare", "Compare")
    sentences = [Sentence(answer(metric, found), link=link) for metric in first]
    if not sentences:
        sentences = [Sentence("What the prompt changes could not be tested in any main metric.")]
    tables = [*(cells_table(metric, found) for metric in first), *([effects_table(told, found)] if told else [])]
    return [*sentences, *tables, *map(Note, _notes(found, told))]


def declared_effects(run: Run) -> TwoFactors | None:
    """Return what models and prompts change, of the entries that the board of the suite declares to have them."""
    factors = declared_factors(run)
    return factor_effects(run, factors) if factors else None


def declared_factors(run: Run) -> dict[str, tuple[str, str]]:
    """Return (model, prompt) by entry of the run, as the board of its suite declares them."""
    declared = Boards(run.workspace.path).settings(run.spec.suite.fingerprint).factors
    shown = {run.shown_name(entry): own for entry, own in declared.items()}
    return {entry: own for entry, own in shown.items() if entry is not None}


def _of_one_model(run: Run, factors: Mapping[str, tuple[str, str]]) -> Iterator[Sentence]:
    """Yield whether one prompt is better than the one before it, of each model that has several."""
    for model in dict.fromkeys(model for model, _ in factors.values()):
        entries = {prompt: entry for entry, (of, prompt) in factors.items() if of == model}
        for (one, a), (other, b) in pairwise(entries.items()):
            pair, names = compare(run, a, b), (f"prompt {_short(one)}", f"prompt {_short(other)}")
            link = Link("compare", "Compare", {"a": a, "b": b})
            asked = f"With {_short(model)} alone, is {names[1]} better than {names[0]}?"
            yield Sentence(f"{asked} {is_better(pair, *names)}.", link=link)


def answer(metric: MetricFactors, found: TwoFactors) -> str:
    """Return what the prompt changes in a metric, and whether it is the same for every model, in one sentence."""
    title, effects = metric_title(metric.column, arrow=False), metric.of("prompt")
    clear = [one for one in effects if one.is_clear]
    models = "both models" if len(found.models) == 2 else f"all {len(found.models)} models"
    if not clear:
        prompts = (
            " and ".join(map(_short, found.prompts))
            if len(effects) == 1
            else f"any two of {len(found.prompts)} prompts"
        )
        text = f"{title}: no significant difference between {prompts} over {models}"
    else:
        most = max(clear, key=lambda one: abs(one.difference or 0.0))
        one, other = _in_order(most)
        word = "better" if most.better is not None else "higher"
        text = f"{title}: prompt {_short(one)} is {word} than {_short(other)} by {_size(most)} over {models}"
        if len(effects) > 1:
            text += f", the largest of {len(clear)} significant differences between {len(found.prompts)} prompts"
    part = metric.interaction
    if part is None or not part.is_clear:
        return f"{text}; the effect does not differ significantly between models."
    return f"{text}; the effect differs between models: {_interaction(part, found)}."


def cells_table(metric: MetricFactors, found: TwoFactors) -> Table:
    """Return the means of models (rows) with prompts (columns), and over all models and all prompts."""
    prompts = found.prompts[:MAX_PROMPTS]
    rows = [
        [name, *(with_interval(*metric.means[model, prompt]) for prompt in (*prompts, ALL))]
        for model, name in (*((model, model) for model in found.models), (ALL, "Mean over models"))
    ]
    heads = ["Model", *prompts, "Mean over prompts"]
    return table(f"{metric_title(metric.column)} by model and prompt", heads, rows, range(1, len(heads)))


def effects_table(metrics: Sequence[MetricFactors], found: TwoFactors) -> Table:
    """Return the effects of prompts, their interaction with models, and the effects of models, metric by metric."""
    rows = [(metric, one) for metric in metrics for one in _table_effects(metric)]
    effects = [one for _, one in rows]
    return table_of(
        "Effects of prompts and models",
        (Head("Metric"), [metric_title(metric.column) for metric, _ in rows]),
        (Head("Effect", help=INTERACTION), [_title(one, found) for one in effects]),
        (Head("Difference", True, "Of means over the other factor, each level with equal weight", 90),
         [signed(one.difference) for one in effects]),
        (Head("95 % interval", True), [interval(one.low, one.high) for one in effects]),
        (Head("Adjusted p", True, "By Holm over all effects of all these metrics", 90),
         [p_value(one.adjusted) for one in effects]),
        (Head("n", True, "Cases with a value of every model with every prompt"),
         [count(metric.n) for metric, _ in rows]),
        (Head("Result"), list(map(_result, effects))),
    )  # fmt: skip


def _table_effects(metric: MetricFactors) -> list[Effect]:
    prompts, models = metric.of("prompt")[:MAX_PAIRS], metric.of("model")[:MAX_PAIRS]
    return [*prompts, *metric.of("interaction")[:1], *models]


def _title(one: Effect, found: TwoFactors) -> str:
    if one.factor != "interaction":
        return f"{one.factor.capitalize()}: {one.b} − {one.a}"
    if _is_two_by_two(found):
        return f"Interaction: {found.prompts[1]} − {found.prompts[0]}, {found.models[1]} − {found.models[0]}"
    return f"Interaction: {one.a} with {one.b}"


def _result(one: Effect) -> str:
    if one.factor == "interaction":
        return "differs between models" if one.is_clear else "no significant interaction"
    words = {"better": f"{one.b} is better", "worse": f"{one.a} is better"}
    words |= {"higher": f"{one.b} is higher", "lower": f"{one.a} is higher", "equal": one.equal}
    return words.get(one.significance, "no significant difference")


def _interaction(part: Effect, found: TwoFactors) -> str:
    """Return how the effect of a prompt differs between models, in a clause."""
    difference = part.difference or 0.0
    if not _is_two_by_two(found):
        bounds = interval(part.low, part.high)
        return f"{_short(part.a)} with {_short(part.b)} is {signed(difference)} ({bounds}) from what the two have apart"
    less, more = map(_short, found.models if difference > 0 else found.models[::-1])
    prompt, other = _short(found.prompts[1]), _short(found.prompts[0])
    return f"{prompt} less {other} is {_size(part)} more with {more} than with {less}"


def _is_two_by_two(found: TwoFactors) -> bool:
    return len(found.models) == len(found.prompts) == 2


def _in_order(one: Effect) -> tuple[str, str]:
    """Return the better level and the worse; where neither end is better, the higher one first."""
    ahead = one.difference if one.better is None else one.better
    return (one.b, one.a) if (ahead or 0.0) > 0 else (one.a, one.b)


def _size(one: Effect) -> str:
    """Return how large an effect is, without its sign, and its interval."""
    if (one.difference or 0.0) >= 0:
        return with_interval(one.difference, one.low, one.high)
    low, high = (None if end is None else -end for end in (one.high, one.low))
    return with_interval(abs(one.difference or 0.0), low, high)


def _short(name: str) -> str:
    return shorten(name, LONGEST)


def _notes(found: TwoFactors, told: Sequence[MetricFactors]) -> Iterator[str]:
    if told:
        paired = paired_on([metric.n for metric in told], found.clustered)
        yield (
            f"{paired}; a mean over models or prompts gives each of them the same weight. “Better” = "
            f"{significance(found.tested, 'holm')}: all effects of these metrics together. No significant difference "
            "does not mean that there is none."
        )
        if min(metric.n for metric in told) < found.cases:
            yield f"Of {plural(found.cases, 'case')}, those count that have a value of every model with every prompt."
    if found.left_out:
        yield f"Left out: {named(found.left_out)}, as only models with the same prompts are compared."
    reasons: dict[str, list[str]] = {}
    for metric in found.metrics:
        if not metric.effects:
            reasons.setdefault(metric.reason, []).append(metric_title(metric.column, arrow=False))
    for reason, titles in reasons.items():
        yield f"Not tested: {named(titles)} ({reason})."
    if (more := len(told) - MAX_METRICS) > 0:
        yield f"{plural(more, 'more metric')} in the table of effects alone."
    if (more := len(found.prompts) - MAX_PROMPTS) > 0:
        yield f"{plural(more, 'more prompt')} in the means and the tests, without a column of means."
    if (more := max((len(metric.effects) - len(_table_effects(metric)) for metric in told), default=0)) > 0:
        yield f"Up to {plural(more, 'less sure effect')} of a metric tested and not shown."
