"""The lower half of the page Evaluate: the questions, all evaluators, the models behind them, the start.

All of it is one fragment, so that a tick draws nothing else again. Families and drawers are drawn where they are open.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data import evaluation_inputs, judge_settings, model_needs, prompts, run_estimates
from components.views.judge import judge_calls
from components.views.judge.machine_models import KINDS
from components.views.setup import evaluator_offers, run_judge, run_start
from components.views.setup.evaluator_drawer import draw_drawer, keep_parameters
from components.views.setup.evaluator_offers import Choice, Offer, Shelf
from components.widgets import url
from components.widgets.controls import agreed, is_gone
from metrics.core.registry import evaluators as catalogue, refused as refused_plugins
from metrics.presentation import format
from metrics.presentation.families import FAMILIES, is_found
from metrics.presentation.run_names import evaluator_line as evaluator_words

if TYPE_CHECKING:
    from components.data import Preset
    from components.data.evaluation_inputs import Inputs, Understood
    from metrics.core.evaluator import Evaluator

CRITERIA, CRITERION = "criteria", "g_eval"  # the question about criteria of one's own, and the evaluator that rates
NEEDS_JUDGE = "needs-judge"  # in the session: a question was ticked that needs a judge
MAX_NAMED = 6  # evaluators
LOOK_AGAIN = 0.5  # seconds after which estimates that were not known are looked at again


@st.fragment
def draw_evaluators(inputs: Inputs, understood: Understood) -> None:
    """Draw the questions and evaluators beside what they need and the start of the run."""
    left, right = st.columns([7, 3], gap="medium")
    with right:
        run_start.draw_understood(understood, inputs.keep)
        card, settings = st.container(), st.container()
    task, present = understood.task, understood.present
    offered = evaluator_offers.offers(catalogue(), task, present)
    with settings:
        needed = needed_kinds(offer.entry for offer in offered)
        resources: dict[str, Any] = dict(draw_models(needed, model_needs.model_kinds()))
        judge = _judge(offered)
        if judge:
            resources["judge"] = judge
    parameters = evaluator_offers.own_parameters()

    def barred(name: str) -> bool:
        return not judge and model_needs.uses_judge(name, parameters.get(name, {}))

    def unavailable(name: str) -> str:
        return model_needs.unavailable(name, parameters.get(name, {}), resources)

    def usual() -> dict[str, list[str]]:
        return model_needs.presets_unasked(task, present, unavailable)

    shelf = evaluator_offers.shelved(offered, url.params("evaluator"), barred, unavailable)
    suited = model_needs.presets(task, present, url.params("preset"))
    found = evaluator_offers.choice(suited, task, present, shelf, usual)
    with left:
        st.subheader("What do you want to know?", anchor=False)
        _draw_questions(suited, found, bool(judge))
        _offer_earlier(evaluation_inputs.asked_before(understood.fingerprint), found, parameters)
        if CRITERIA in found.ticked:
            _draw_criteria(parameters, present)
            parameters = evaluator_offers.own_parameters()
        costs = st.container(gap=None)
        for why in refused_plugins():
            st.warning("A plugin is left out.", icon=":material/extension_off:")
            st.text(why)
        skipped = {name: reason for name in found.chosen if (reason := unavailable(name))}
        st.text(_chosen_words(found))
        with st.expander(f"All evaluators ({sum(map(len, shelf))})", key="all-evaluators", on_change="rerun") as every:
            if every.open:
                _draw_choices(shelf, found, parameters, skipped)
    chosen = list(found.chosen)
    given = {name: own for name, own in parameters.items() if name in chosen}
    with settings:
        if hint := model_needs.inference_hint(chosen, resources):
            st.text(hint)
        texts = run_judge.draw_prompts(run_judge.prompts_of(chosen, catalogue(), bool(judge)))
    if texts:
        given, resources = prompts.place_prompts(texts, chosen, given, resources)
    with card:
        further = run_start.draw_start(inputs, understood, chosen, list(skipped), given, resources)
    if judge:
        with costs:
            _draw_costs(inputs, suited, found, parameters, resources, further)


def _judge(offered: Sequence[Offer]) -> dict[str, Any]:
    """Return the settings of the run's judge if there is one and an evaluator on offer uses it; else {}."""
    judge = judge_settings.judge_chosen()
    if judge.settings is None or not any(not offer.lacks and model_needs.uses_judge(offer.id, {}) for offer in offered):
        return {}
    return run_judge.draw_judge(judge, judge_settings.judge_schemas().budget)


def _draw_questions(suited: Sequence[Preset], found: Choice, judged: bool) -> None:
    """Draw the questions as chips; ticking one that needs a judge, where there is none, opens the set-up of one."""
    titles = {
        preset.id: preset.title + ("" if found.held[preset.id] else " · needs a judge")
        for preset in suited
        if preset.id in found.held
    }
    if titles:
        st.pills(
            "Questions", list(titles), selection_mode="multi", key="questions",
            default=agreed("questions", list(found.ticked)), format_func=titles.__getitem__, on_change=_tick_questions,
            args=(found,), label_visibility="collapsed", wrap=True,
        )  # fmt: skip
    if st.session_state.pop(NEEDS_JUDGE, False) and not judged:
        url.go("judge", back=url.state())
    if waiting := [titles[name].partition(" · ")[0] for name in found.ticked if not found.held[name]]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{' and '.join(waiting)}: no judge is set up yet, so it is left out.")
            url.link("Set up a judge", "judge", icon=":material/gavel:", back=url.state())


def _offer_earlier(earlier: Mapping[str, Any], found: Choice, parameters: Mapping[str, Mapping[str, Any]]) -> None:
    """Draw a button that chooses what earlier runs of the suite were asked (see asked_before), unless it is chosen."""
    if not earlier:
        return
    given = json.loads(earlier["parameters"] or "{}")
    if {*found.chosen} == {*earlier["evaluator"]} and given == {name: parameters.get(name) for name in given}:
        return
    own = ", with their parameters" * bool(given)
    st.button(
        f"As in earlier runs of this suite: {evaluator_words(earlier['evaluator'], MAX_NAMED)}{own}",
        key="as-before",
        type="tertiary",
        icon=":material/history:",
        on_click=partial(url.put, preset=None, **earlier),
    )


def _tick_questions(found: Choice) -> None:
    if is_gone("questions"):
        return
    ticked = st.session_state["questions"]
    st.session_state[NEEDS_JUDGE] = any(not found.held[name] for name in ticked if name not in found.ticked)
    evaluator_offers.tick_presets(ticked, found)


def _draw_criteria(parameters: Mapping[str, Mapping[str, Any]], present: Collection[str]) -> None:
    """Draw the field for criteria of one's own, a line each; they are kept as parameters of their evaluator."""
    own = parameters.get(CRITERION, {})
    st.text_area(
        "My criteria, one per line", agreed("criteria", "\n".join(own.get("criteria", ()))), key="criteria", height=80,
        on_change=_keep_criteria, args=(own, "retrieved_contexts" in present, "question" in present),
        placeholder="Answers politely and in at most three sentences.\nNever promises a refund.",
        help="What a good answer is, in your own words. The judge rates each criterion alone; each gets a column.",
    )  # fmt: skip


def _keep_criteria(own: Mapping[str, Any], contexts: bool, question: bool) -> None:
    if is_gone("criteria"):
        return
    lines = [line.strip() for line in st.session_state["criteria"].splitlines() if line.strip()]
    shown = [*["question"] * question, *["contexts"] * contexts]
    keep_parameters(CRITERION, {"shown": shown, **own, "criteria": lines} if lines else {})


def _draw_costs(
    inputs: Inputs, suited: Sequence[Preset], found: Choice, parameters: Mapping[str, Mapping[str, Any]],
    resources: dict[str, Any], settings: Mapping[str, Any],
) -> None:  # fmt: skip
    """Draw what each question to the judge would cost, beside the questions; the page is drawn again as it is known."""
    pending = False
    for preset in suited:
        held = found.held.get(preset.id, ())
        asks = [name for name in held if model_needs.uses_judge(name, parameters.get(name, {}))]
        if not asks or (preset.id == CRITERIA and not parameters.get(CRITERION)):
            continue
        given = {name: parameters[name] for name in asks if name in parameters}
        known, estimate = run_estimates.estimate(inputs, tuple(asks), given, resources, settings, preset.id)
        pending |= not known
        if estimate:
            st.caption(f"{preset.title.rstrip('?')}: {judge_calls.estimate_line(estimate)}")
    if pending:
        st.fragment(_look_again, run_every=1.0)(time.monotonic())


def _look_again(drawn: float) -> None:
    if time.monotonic() - drawn > LOOK_AGAIN:
        st.rerun()


def _chosen_words(found: Choice) -> str:
    """Return the number of chosen evaluators and the first of their titles."""
    chosen = found.chosen
    if not chosen:
        return "No evaluator chosen"
    return f"{format.plural(len(chosen), 'evaluator')}: {evaluator_words(chosen, MAX_NAMED)}"


def _draw_choices(
    shelf: Shelf, found: Choice, parameters: Mapping[str, Mapping[str, Any]], skipped: Mapping[str, str]
) -> None:
    """Draw the search, the families with their evaluators, and what the others need."""
    wanted = st.text_input(
        "Search", key="evaluator-search", placeholder="Search: hallucination, accuracy, toxicity, JSON, latency …",
        icon=":material/search:", label_visibility="collapsed",
    ).strip()  # fmt: skip
    matching = shelf
    if wanted:
        matching = Shelf(
            tuple(offer for offer in shelf.ready if is_found(offer.entry, wanted)),
            tuple(offer for offer in shelf.columnless if is_found(offer.entry, wanted)),
            tuple(offer for offer in shelf.waiting if is_found(offer.entry, wanted)),
            tuple(pair for pair in shelf.modelless if is_found(pair[0].entry, wanted)),
        )
        hits = sum(map(len, matching))
        st.text(f"{format.plural(hits, 'evaluator')} found" if hits else "No evaluator has these words.")
    if "open-families" not in st.session_state:  # at first those that have something to say
        st.session_state["open-families"] = {offer.entry.family for offer in shelf.ready if offer.id in skipped}
    if matching.ready:
        with st.container(gap=None):
            for family, members in matching.families.items():
                _draw_family(family, members, found, parameters, skipped, bool(wanted))
    _draw_rest(matching, parameters, bool(wanted))


def _draw_family(
    family: str, members: Sequence[Offer], found: Choice, parameters: Mapping[str, Mapping[str, Any]],
    skipped: Mapping[str, str], searched: bool,
) -> None:  # fmt: skip
    """Draw the head of a family and, where it is open, its evaluators; all that were searched for are shown."""
    ids = [offer.id for offer in members]
    count = sum(name in found.chosen for name in ids)
    shown = searched or family in st.session_state["open-families"]
    with st.container(gap=None, key=f"family-{family}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                FAMILIES[family], key=f"open-{family}", type="tertiary", on_click=_turn, args=(family,),
                icon=":material/expand_more:" if shown else ":material/chevron_right:", disabled=searched,
            )  # fmt: skip
            st.caption(f"{count} of {len(ids)} chosen", width="stretch")
            for label, names in (("All", ids), ("None", ())):
                st.button(
                    label, key=f"{label.lower()}-{family}", type="tertiary", on_click=_choose_all,
                    args=(tuple(ids), tuple(names), found), disabled=count == len(names),
                    help=f"{label} of {FAMILIES[family].lower()}",
                )  # fmt: skip
        for offer in members if shown else ():
            _draw_row(offer, found, parameters.get(offer.id, {}), skipped.get(offer.id, ""))


def _draw_row(offer: Offer, found: Choice, own: Mapping[str, Any], skipped: str) -> None:
    """Draw the checkbox of an evaluator and its drawer; `skipped` says why it would be skipped, if it would."""
    key = f"offer-{offer.id}"
    asks = f" – {'needs' if skipped else 'asks'} {', '.join(offer.asks)}" if offer.asks else ""
    changed = f"  :blue-badge[{len(own)} changed]" if own else ""
    left, right = st.columns([12, 1], gap="xsmall", vertical_alignment="center")
    left.checkbox(
        f"**{offer.entry.title}**{asks}{changed}  :gray[{offer.entry.summary}]",
        bool(agreed(key, offer.id in found.chosen)), key=key, on_change=_tick, args=(key, offer.id, found),
    )  # fmt: skip
    with right:
        draw_drawer(offer, own)
    if skipped:
        st.text(f"Will be skipped: {skipped}.")
    elif offer.hint:
        st.caption(f"Meant {offer.hint}.")


def _draw_rest(shelf: Shelf, parameters: Mapping[str, Mapping[str, Any]], searched: bool) -> None:
    """Draw the evaluators that cannot run with what each lacks; folded away where none was searched for."""
    parts = [
        (len(shelf.columnless), "columns you don't have"),
        (len(shelf.waiting), "a judge"),
        (len(shelf.modelless), "a local model"),
    ]
    first, *others = [part for part in parts if part[0]] or [(0, "")]
    if not first[0]:
        return
    title = f"{format.plural(first[0], 'evaluator needs', 'evaluators need')} {first[1]}"
    with st.expander(
        "; ".join([title, *(f"{n} {what}" for n, what in others)]), key="rest-found" if searched else "rest",
        expanded=searched, on_change="rerun",
    ) as rest:  # fmt: skip
        if not rest.open:
            return
        for offer in shelf.columnless:
            st.text(f"{offer.entry.title}: needs {', '.join(offer.lacks)}")
        if shelf.waiting:
            st.text("A judge: " + ", ".join(offer.entry.title for offer in shelf.waiting))
        for offer, reason in shelf.modelless:
            left, right = st.columns([12, 1], gap="xsmall", vertical_alignment="center")
            left.text(f"{offer.entry.title}: {reason}")
            with right:
                draw_drawer(offer, parameters.get(offer.id, {}))  # a model may be its own parameter


def _turn(family: str) -> None:
    st.session_state["open-families"] ^= {family}


def _tick(key: str, evaluator: str, found: Choice) -> None:
    others = [name for name in found.chosen if name != evaluator]
    evaluator_offers.choose([*others, evaluator] if st.session_state[key] else others, found.ticked, found.held)


def _choose_all(family: Collection[str], wanted: Collection[str], found: Choice) -> None:
    others = [name for name in found.chosen if name not in family]
    evaluator_offers.choose([*others, *wanted], found.ticked, found.held)


HINT = (
    "A folder with safetensors, or the name of a model on the hub, which is downloaded when the run starts. "
    "A parameter of an evaluator overrides this."
)


def needed_kinds(entries: Iterable[Evaluator]) -> list[str]:
    """Return the kinds of model that some of these evaluators can use, in the order of KINDS."""
    used: set[str] = set()
    for entry in entries:
        used |= {*entry.needs, *entry.parameters.model_fields}
    return [name for name in KINDS if name in used]


def draw_models(names: Iterable[str], kinds: Mapping[str, str]) -> dict[str, str]:
    """Draw a text field for each kind of model, kept in the address under its name; return the models chosen, by kind.

    `kinds` has the default of each kind.
    """
    names = [name for name in names if name in kinds]
    chosen = {name: value for name in names if (value := (url.param(name) or "").strip())}
    if not names:
        return {}
    own = ", ".join(f"{KINDS[name][0].lower()}" for name in chosen)
    with st.expander(f"Local models: {own} chosen" if own else "Local models", icon=":material/memory:"):
        for place, name in enumerate(names):
            title, does = KINDS[name]
            if place % 2 == 0:
                columns = st.columns(2)
            key = f"model-{name}"
            columns[place % 2].text_input(
                title, agreed(key, chosen.get(name, "")), key=key, on_change=_write, args=(name, key),
                help=f"{does} {HINT}", placeholder=kinds[name] or "none: evaluators that need it are skipped",
            )  # fmt: skip
    return chosen


def _write(name: str, key: str) -> None:
    url.put(**{name: (st.session_state[key] or "").strip()})
