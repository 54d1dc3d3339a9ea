"""The checks of boxes and classes in outputs, and the fixes and answers that an evaluation gives."""

from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import Evaluation, option_name
from metrics.engine.evaluation_fields import Door, Tell
from metrics.library.file_options import option_text
from metrics.presentation.phrases import change_lines

ALL = "all"  # of `fix`: whatever the checks propose


def corrected_outputs(suite: Suite, outputs: Outputs, evaluation: Evaluation, door: Door = "command") -> Outputs:
    """Return the outputs with the fixes of boxes and the unknown classes as the evaluation says. InputError."""
    from metrics.ingest.lint import ClassChoice, fix, fix_all, settle

    if evaluation.fix:
        outputs = fix(suite, outputs, [_named_fix(text, door) for text in evaluation.fix if text != ALL])
    if ALL in evaluation.fix:
        outputs = fix_all(suite, outputs)
    return (
        settle(suite, outputs, ClassChoice.parse(evaluation.unknown_classes)) if evaluation.unknown_classes else outputs
    )


def checked_outputs(
    suite: Suite, outputs: Outputs, evaluation: Evaluation, door: Door = "command", tell: Tell | None = None
) -> Outputs:
    """Return the outputs with fixes and unknown classes as the evaluation says, after the checks of boxes and classes.

    `tell` is told what was changed, and what looks doubtful. InputError for serious findings that are neither fixed nor
    accepted, and for unknown classes without an answer, with what would answer them in the words of the door.
    """
    from metrics.ingest.lint import TASKS_ASKED, advice, lint, unanswered, unknown_text

    if suite.task not in TASKS_ASKED:
        given = [option_name(name, door) for name in ("fix", "unknown_classes") if getattr(evaluation, name)]
        if given:
            expected = f"a suite of {' or '.join(TASKS_ASKED)}"
            raise InputError([InputProblem(", ".join(given), f"a suite of {suite.task}", expected)])
        return outputs
    say = tell or (lambda *_: None)
    outputs = corrected_outputs(suite, outputs, evaluation, door)
    findings = lint(suite, outputs)
    refused = [] if evaluation.accept_findings else [finding for finding in findings if finding.serious]

    def remedy(model: str, name: str) -> str:
        return f"add {option_text('fix', f'{model}={name}', door)}"

    say("note", *(f"changed: {text}" for text in change_lines(outputs.changes)))
    lines: list[str] = []
    for finding in findings:
        if finding in refused:
            lines += advice(finding, remedy)
        else:
            say("warning", *advice(finding, remedy))
    # numbers that are off by one are answered by their fix
    unknown = unanswered(suite, outputs)
    if unknown and not any(finding.kind == "class_numbers" for finding in refused):
        alike = [f"{each.name}={each.nearest[0]}" for each in unknown if each.nearest and each.meant is None]
        proposal = f", such as {option_text('unknown_classes', alike[0], door)}" if alike else ""
        every = option_name("unknown_classes", door)
        lines.append(unknown_text(unknown))
        if meant := [each.respelling for each in unknown if each.meant is not None]:
            some = ", ".join(meant[:5]) + ", …" * (len(meant) > 5)
            lines.append(f"  add {option_text('unknown_classes', 'respell', door)}: only spelled otherwise are {some}")
        if len(meant) < len(unknown):
            lines.append(f"  add {every} ignore|false|NAME=CLASS{proposal}")
        if door == "page":  # which shows what was found beside its questions
            numbered = [str(finding) for finding in findings if finding.kind == "class_numbers"]
            lines = numbered or [f"Choose what to do with {unknown_text(unknown)}."]
    if refused:
        several = sum(bool(one.fix) for one in findings) > 1
        every = f"{option_text('fix', ALL, door)} to apply all of these fixes, or " if several else ""
        lines.append(f"or {every}{option_text('accept_findings', True, door)} to score them as they are")
    if lines:
        raise InputError(*lines)
    return outputs


def _named_fix(text: str, door: Door) -> tuple[str, str]:
    """Return model and fix of MODEL=FIX; a model's name may have an equals sign, a fix has none."""
    model, _, name = text.rpartition("=")
    if not (model and name):
        raise InputError([InputProblem(option_name("fix", door), repr(text), "MODEL=FIX or all")])
    return model, name
