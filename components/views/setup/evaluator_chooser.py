"""The lower half of the page Evaluate: presets, families and search of evaluators, the models behind them, the start.

All of it is one fragment, so that a tick draws nothing else again. Families and drawers are drawn where they are open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data import judge_settings, model_needs, prompts
from components.views.setup import run_judge, run_start
from components.views.setup.evaluator_drawer import draw_drawer
from components.views.setup.evaluator_offers import (
    Choice,
    Offer,
    Shelf,
    choice,
    choose,
    offers,
    own_parameters,
    shelved,
)
from components.widgets import url
from components.widgets.controls import agreed
from metrics.core.registry import evaluators as catalogue, refused as refused_plugins
from metrics.presentation import format, run_names
from metrics.presentation.families import FAMILIES

if TYPE_CHECKING:
    from components.data import Preset
    from components.data.evaluation_inputs import Inputs, Understood
    from metrics.core.evaluator import Evaluator


@st.fragment
def draw_evaluators(inputs: Inputs, understood: Understood) -> None:
    """Draw the choice of evaluators beside what they need and the start of the run."""
    left, right = st.columns([7, 3], gap="medium")
    with right:
        card, settings = st.container(), st.container()
    offered = offers(catalogue(), understood.task, understood.present)
    with settings:
        needed = needed_kinds(offer.entry for offer in offered)
        resources: dict[str, Any] = dict(draw_models(needed, model_needs.model_kinds()))
        judge = _judge(offered)
        if judge:
            resources["judge"] = judge
    parameters = own_parameters()

    def barred(name: str) -> bool:
        return not judge and model_needs.uses_judge(name, parameters.get(name, {}))

    def unavailable(name: str) -> str:
        return model_needs.unavailable(name, parameters.get(name, {}), resources)

    shelf = shelved(offered, url.params("evaluator"), barred, unavailable)
    suited = model_needs.presets(understood.task, understood.present)
    found = choice(suited, understood.task, understood.present, [offer.id for offer in shelf.ready])
    skipped = {name: reason for name in found.chosen if (reason := unavailable(name))}
    with left:
        for why in refused_plugins():
            st.warning("A plugin is left out.", icon=":material/extension_off:")
            st.text(why)
        _draw_presets(suited, understood, found, shelf)
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
        run_start.draw_start(inputs, understood, chosen, list(skipped), given, resources)


def _judge(offered: Sequence[Offer]) -> dict[str, Any]:
    """Return the settings of the run's judge if an evaluator on offer needs one; {} without one."""
    waiting = sum(not offer.lacks and model_needs.uses_judge(offer.id, {}) for offer in offered)
    return (
        run_judge.draw_judge(judge_settings.judge_chosen(), judge_settings.judge_schemas().budget, waiting)
        if waiting
        else {}
    )


def _draw_presets(suited: Sequence[Preset], understood: Understood, found: Choice, shelf: Shelf) -> None:
    """Draw the presets, what the chosen one holds, and how the choice differs from it."""
    st.subheader("Evaluators", anchor=False)
    task, known = understood.task, {preset.id: preset for preset in suited}
    if known:
        st.pills(
            "Preset", list(known), key="preset", default=agreed("preset", found.preset or None), required=True,
            format_func=lambda id: _label(known[id], understood), on_change=_take, label_visibility="collapsed",
            wrap=True,
        )  # fmt: skip
    preset = known.get(found.preset)
    if preset is not None:
        held = {entry.id for entry in preset.evaluators(task)}
        lines = [preset.summary]
        if waiting := sum(offer.id in held for offer in shelf.waiting):
            lines.append(f"{format.plural(waiting, 'evaluator needs', 'evaluators need')} a judge.")
        if modelless := sum(offer.id in held for offer, _ in shelf.modelless):
            lines.append(f"{format.plural(modelless, 'evaluator needs', 'evaluators need')} a local model.")
        st.text(" ".join(lines))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(_chosen_words(found), width="stretch")
        if preset is not None and any(found.change):
            added, removed = found.change
            st.caption(
                " · ".join(
                    part for part in (f"{added} added" * bool(added), f"{removed} removed" * bool(removed)) if part
                )
            )
            st.button("Reset", key="preset-reset", type="tertiary", on_click=choose_preset, args=(preset.id,))


def _label(preset: Preset, understood: Understood) -> str:
    """Return a preset with how many of its evaluators the data can feed: `Retrieval · 6 of 8`."""
    fed, held = len(preset.runnable(understood.task, understood.present)), len(preset.evaluators(understood.task))
    return f"{preset.title} · {fed}" + (f" of {held}" if fed < held else "")


def _take() -> None:
    choose_preset(st.session_state["preset"])


def choose_preset(preset: str) -> None:
    """Write to the address that the evaluators of a preset are chosen."""
    url.put(preset=preset, evaluator=None)


def _chosen_words(found: Choice) -> str:
    """Return the number of chosen evaluators and the first of their titles."""
    chosen = found.chosen
    return f"{len(chosen)} chosen: {run_names.evaluator_line(chosen)}" if chosen else "No evaluator chosen"


def _draw_choices(
    shelf: Shelf, found: Choice, parameters: Mapping[str, Mapping[str, Any]], skipped: Mapping[str, str]
) -> None:
    """Draw the search, the families with their evaluators, and what the others need."""
    wanted = st.text_input(
        "Search", key="evaluator-search", placeholder="Search names, metrics and definitions",
        icon=":material/search:", label_visibility="collapsed",
    ).strip()  # fmt: skip
    matching = shelf
    if wanted:
        matching = Shelf(
            tuple(offer for offer in shelf.ready if offer.matches(wanted)),
            tuple(offer for offer in shelf.columnless if offer.matches(wanted)),
            tuple(offer for offer in shelf.waiting if offer.matches(wanted)),
            tuple(pair for pair in shelf.modelless if pair[0].matches(wanted)),
        )
        hits = sum(map(len, matching))
        st.text(f"{format.plural(hits, 'evaluator')} found" if hits else "No evaluator has these words.")
    if "open-families" not in st.session_state:  # at first those that have something to say
        st.session_state["open-families"] = {offer.entry.family for offer in shelf.ready if offer.id in skipped}
    if matching.ready:
        with st.container(border=True, gap=None):
            for family, members in matching.families.items():
                _draw_family(family, members, found, parameters, skipped, bool(wanted))
    _draw_rest(matching, parameters)


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


def _draw_rest(shelf: Shelf, parameters: Mapping[str, Mapping[str, Any]]) -> None:
    """Draw, folded away, the evaluators that cannot run with what each lacks."""
    parts = [
        (len(shelf.columnless), "columns you don't have"),
        (len(shelf.waiting), "a judge"),
        (len(shelf.modelless), "a local model"),
    ]
    first, *others = [part for part in parts if part[0]] or [(0, "")]
    if not first[0]:
        return
    title = f"{format.plural(first[0], 'evaluator needs', 'evaluators need')} {first[1]}"
    with st.expander("; ".join([title, *(f"{n} {what}" for n, what in others)]), key="rest", on_change="rerun") as rest:
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
    choose([*others, evaluator] if st.session_state[key] else others, found.preset)


def _choose_all(family: Collection[str], wanted: Collection[str], found: Choice) -> None:
    choose([*(name for name in found.chosen if name not in family), *wanted], found.preset)


TITLES = {
    "embedder": ("Embedding model", "Compares texts by meaning."),
    "token_encoder": ("Token encoder", "Compares texts token by token, for BERTScore."),
    "classifier": ("Classifier", "Classifies texts or pairs of texts: hallucination, inference, toxicity, bias."),
    "language_model": ("Language model", "Computes how likely a text is, for perplexity and GPTScore."),
}
HINT = (
    "A folder with safetensors, or the name of a model on the hub, which is downloaded when the run starts. "
    "A parameter of an evaluator overrides this."
)


def needed_kinds(entries: Iterable[Evaluator]) -> list[str]:
    """Return the kinds of model that some of these evaluators can use, in the order of TITLES."""
    used: set[str] = set()
    for entry in entries:
        used |= {*entry.needs, *entry.parameters.model_fields}
    return [name for name in TITLES if name in used]


def draw_models(names: Iterable[str], kinds: Mapping[str, str]) -> dict[str, str]:
    """Draw a text field for each kind of model, kept in the address under its name; return the models chosen, by kind.

    `kinds` has the default of each kind.
    """
    names = [name for name in names if name in kinds]
    chosen = {name: value for name in names if (value := (url.param(name) or "").strip())}
    if not names:
        return {}
    own = ", ".join(f"{TITLES[name][0].lower()}" for name in chosen)
    with st.expander(f"Local models: {own} chosen" if own else "Local models", icon=":material/memory:"):
        for place, name in enumerate(names):
            title, does = TITLES[name]
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
