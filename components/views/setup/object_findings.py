"""Whether predictions mean what they were read as: findings, worst first, their fixes and images that show them."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

import streamlit as st

from components.data import evaluation_inputs, object_lint, pictures
from components.viewers import image_viewer
from components.widgets import controls, url
from metrics.presentation import format
from metrics.presentation.viewers import object_panels

if TYPE_CHECKING:
    from components.data import Finding, UnknownClass


CLASSES = {
    "ignore": "Ignore their predictions, as pycocotools does",
    "false": "Count them as false positives (AP does not change)",
    "map": "Take them for classes of the suite",
}
WITHOUT_BOXES = {"ignore": "Ignore their predictions", "false": "Count them as wrong"}
MOST_MAPPED = 30  # unknown classes that can be mapped on the page
NO_CLASS = ""  # of a mapping: ignored


def with_answers(inputs: evaluation_inputs.Inputs) -> evaluation_inputs.Inputs:
    """Return the inputs with the fixes and the answers in the address, if they were given for these files."""
    if url.param("checked") != _key(inputs):
        return inputs
    chosen = url.param("unknown", "")
    named = tuple(text for text in url.params("same") if chosen == "map")
    classes = (*named, "ignore" if chosen == "map" else chosen) if chosen in CLASSES else ()
    return replace(inputs, fixes=tuple(url.params("fix")), classes=classes)


def draw_checks(inputs: evaluation_inputs.Inputs) -> str:
    """Draw what the checks of predictions find, with fixes; return what has to be answered first, or ""."""
    with st.spinner("Checking the predictions"):
        checks = object_lint.object_checks(inputs)
    things = "boxes" if checks.boxes else "classes"
    if checks.boxes or checks.findings or checks.unknown or checks.changes:
        st.subheader(f"Check the {things}", anchor=False)
    if not checks.findings and not checks.unknown and not checks.changes:
        if checks.boxes:
            st.text("✓ The boxes, scores and classes look right.")
        return ""
    for change in checks.changes:
        st.text(f"✓ {change}")
    if inputs.fixes and st.button("Undo the fixes", icon=":material/undo:", type="tertiary"):
        _answer(inputs, fix=None)
    fixable = [(finding, title) for finding, title in zip(checks.findings, checks.titles, strict=True) if title]
    for number, (finding, title) in enumerate(zip(checks.findings, checks.titles, strict=True)):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.text(f"{'✗' if finding.serious else '!'} {finding.where}: {finding.text}", width="stretch")
            kind: Literal["primary", "secondary"] = "primary" if finding.serious else "secondary"
            if title and st.button(title, key=f"fix-{number}-{finding.kind}", type=kind, icon=":material/build:"):
                _answer(inputs, fix=[*inputs.fixes, f"{finding.model}={finding.fix}"])
    if len(fixable) > 1 and st.button(f"Apply all {len(fixable)} fixes", icon=":material/build:"):
        _answer(inputs, fix=[*inputs.fixes, *(f"{finding.model}={finding.fix}" for finding, _ in fixable)])
    if checks.boxes and any(finding.cases for finding in checks.findings):
        _draw_images(inputs, [finding for finding in checks.findings if finding.cases or finding.fix])
    serious = sum(finding.serious for finding in checks.findings)
    accepted = url.flag("accept") and url.param("checked") == _key(inputs)
    # numbers that are off by one are answered by their fix
    asked = bool(checks.unknown) and (accepted or all(each.kind != "class_numbers" for each in checks.findings))
    unanswered = asked and _draw_classes(inputs, checks)
    if serious:
        label = f"Evaluate the {things} as they are: the numbers will say nothing about the models"
        if st.checkbox(label, value=accepted, key=f"accept-{accepted}") != accepted:
            _answer(inputs, accept=not accepted)
    if serious and not accepted:
        return f"Fix or accept {format.plural(serious, 'serious finding')} about the {things}."
    return "Choose what to do with the classes that the suite does not have." if unanswered else ""


def _draw_images(inputs: evaluation_inputs.Inputs, findings: "Sequence[Finding]") -> None:
    """Draw an image that shows a model's findings, before and after the fixes; which one is the user's choice."""
    models = {finding.where: finding.where for finding in findings if finding.cases}
    chosen = controls.choice("Model", models, "boxes_of", clears=("at",)) if len(models) > 1 else next(iter(models))
    own = [finding for finding in findings if finding.where == chosen]
    cases = next(finding.cases for finding in own if finding.cases)
    places = {str(place): case for place, case in enumerate(cases, 1)}
    case = places[controls.choice("Image", places, "at")]
    preview = object_lint.box_preview(inputs, own[0].model, own, case)
    source, width, height = None, preview.width, preview.height
    if preview.image is not None:
        try:
            source, width, height = pictures.picture(preview.image)
        except ValueError as failure:
            st.text(f"– {failure}")
    panels = [object_panels.panel(title, drawn) for title, drawn in preview.panels.items()]
    image_viewer.viewer(object_panels.payload(f"{chosen}-{case}-{len(preview.panels)}", width, height, source, panels))
    st.html(image_viewer.legend_html())


def _draw_classes(inputs: evaluation_inputs.Inputs, checks: object_lint.ObjectChecks) -> bool:
    """Draw the question about classes that the suite does not have; return whether it is open."""
    unknown = checks.unknown
    total = sum(each.count for each in unknown)
    names = ", ".join(f"{format.shorten(each.name, 40)} ({each.count:,})" for each in unknown[:8])
    more = f" and {len(unknown) - 8:,} more" if len(unknown) > 8 else ""
    with st.container(border=True):
        what = format.plural(len(unknown), "class", "classes")
        state = "✓" if inputs.classes else "?"
        st.text(f"{state} {format.plural(total, 'prediction')} of {what} that the suite does not have: {names}{more}")
        meant = [each.respelling for each in unknown if each.meant is not None]
        if meant:
            st.text(f"Only spelled otherwise: {', '.join(meant[:5])}{', …' * (len(meant) > 5)}")
        chosen = url.param("unknown", "") if inputs.classes else ""
        words = CLASSES if checks.boxes else CLASSES | WITHOUT_BOXES
        options = sorted(words, key=lambda name: name != "map") if meant else list(words)
        place = options.index(chosen) if chosen in CLASSES else None
        picked = st.radio(
            "What becomes of them?", options, place, format_func=lambda name: words[name], key=f"unknown-{chosen}"
        )
        if picked is not None and picked != chosen:
            _answer(inputs, unknown=picked, same=_proposed(unknown) if picked == "map" else None)
        if chosen == "map":
            _draw_mapping(inputs, checks)
    return not inputs.classes


def _draw_mapping(inputs: evaluation_inputs.Inputs, checks: object_lint.ObjectChecks) -> None:
    """Draw a choice of the suite's classes for each unknown one."""
    given = dict(text.rsplit("=", 1) for text in inputs.classes if "=" in text)
    options = [NO_CLASS, *checks.labels]
    left, right = st.columns(2)
    for number, each in enumerate(checks.unknown[:MOST_MAPPED]):
        now = given.get(each.name, NO_CLASS)
        label = f"{format.shorten(each.name, 40)} · {format.plural(each.count, 'prediction')}"
        with left if number % 2 == 0 else right:
            own = st.selectbox(
                label, options, options.index(now) if now in options else 0, key=f"same-{each.name}-{now}",
                format_func=lambda name: name or "– ignored",
            )  # fmt: skip
        if own != now:
            kept = {name: old for name, old in given.items() if name != each.name}
            kept |= {} if own == NO_CLASS else {each.name: own}
            _answer(inputs, same=[f"{name}={old}" for name, old in kept.items()])
    if len(checks.unknown) > MOST_MAPPED:
        st.text(f"The other {len(checks.unknown) - MOST_MAPPED:,} classes are ignored.")


def _proposed(unknown: "Sequence[UnknownClass]") -> list[str]:
    likely = ((each.name, each.meant or next(iter(each.nearest), None)) for each in unknown[:MOST_MAPPED])
    return [f"{name}={own}" for name, own in likely if own is not None]


def _answer(inputs: evaluation_inputs.Inputs, **values: url.Value) -> None:
    """Keep an answer in the address, for these files only, and draw the page again."""
    if url.param("checked") != _key(inputs):
        url.put(fix=None, unknown=None, same=None, accept=None)
    url.put(checked=_key(inputs), **values)
    st.rerun()


def _key(inputs: evaluation_inputs.Inputs) -> str:
    """Return a short name of the files that answers are about."""
    files = (inputs.source, inputs.suite, *inputs.outputs, *inputs.models, inputs.job)
    return sha256("\x1f".join(files).encode()).hexdigest()[:8]
