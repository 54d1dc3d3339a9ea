"""Which column of a file is which: how it was read, questions where that is ambiguous, and corrections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from components.data import inspected_files
from components.data.uploaded_files import TABLES, choices_of, column_pairs, pairs_of, with_pairs
from components.widgets import problem_list, uploads, url
from components.widgets.controls import agreed, place
from metrics.core.fields import METADATA, words_of
from metrics.core.file_kinds import upload_of
from metrics.core.label_fields import CLASS_FIELDS
from metrics.presentation.format import plural

if TYPE_CHECKING:
    from components.data import Preview, Question
    from components.data.inspected_files import InspectedFile
    from metrics.core.errors import InputProblem
    from metrics.core.receipt import Receipt

NONE = "–"
AS_IT_SEEMS = "as it seems"  # takes back what somebody chose
CLASS_WORDS = {field.name: field.words for field in CLASS_FIELDS}


def words(canonical: str, role: str = "") -> str:
    """Return the words for a canonical name of a file of that role: the class in a file of outputs is the predicted."""
    if canonical.startswith(METADATA):
        return "neither: keep as metadata"
    own = f"predicted_{canonical}" if role == "outputs" and canonical in ("label", "labels") else canonical
    return CLASS_WORDS.get(own) or words_of(own)


def changed(pairs: Sequence[str], canonical: str, column: str | None, before: str | None = None) -> list[str]:
    """Return the pairs with `canonical` mapped to `column`; None: to no column, and `before` becomes metadata."""
    mapping = {name: taken for name, taken in column_pairs(pairs).items() if taken != column and name != canonical}
    if column is not None:
        mapping[canonical] = column  # a column has one meaning: any other one is dropped
    elif before is not None:
        mapping[METADATA + before] = before
    return [f"{name}={taken}" for name, taken in mapping.items()]


def draw_questions(file: InspectedFile, name: str, files: Sequence[InspectedFile]) -> None:
    """Draw a question per ambiguous column of a file; the answer goes into the address under `name`.

    One of `files` with the same columns answers it too: it is asked at the first of them and answered for all, and an
    answer given before is taken for a file that came later.
    """
    if file.preview is None:
        return
    for question in file.preview.questions:
        alike = [each for each in files if each.preview and file.preview and has_columns(each.preview, file.preview)]
        column = str(question.column)
        if (meaning := meaning_given([each for each in alike if each is not file], name, question)) is not None:
            _answer_for([file.token], name, meaning, column)
            st.rerun()
        tokens = [each.token for each in alike if each.preview and question in each.preview.questions]
        if file.token != tokens[0]:
            continue
        with st.container(border=True):
            others = [each.name for each in alike if each.token in tokens[1:]]
            st.text(f"Column “{column}”{' here and in ' + ', '.join(others) if others else ''}: {question.text}")
            key = f"ask-{name}-{file.token}-{column}"
            st.segmented_control(
                "Meaning", list(question.choices), format_func=partial(words, role=file.preview.role), key=key,
                label_visibility="collapsed", on_change=_answer, args=(tokens, name, key, column),
            )  # fmt: skip


def has_columns(one: Preview, other: Preview) -> bool:
    """Return whether two files of one kind have the same columns, in whatever order."""
    return one.role == other.role and sorted(one.columns) == sorted(other.columns)


def meaning_given(files: Sequence[InspectedFile], name: str, question: Question) -> str | None:
    """Return what a column means according to the corrections of one of the files; None if none says."""
    for file in files:
        for canonical, column in choices_of(file.token, url.params(name)).items():
            if column == question.column and canonical in question.choices:
                return canonical
    return None


def draw_mapping(
    token: str, columns: Mapping[str, str], known: Sequence[str], file_columns: Sequence[str], name: str,
    titles: Mapping[str, str] | None = None, role: str = "",
) -> None:  # fmt: skip
    """Draw a select box per canonical column that the file has or could have; corrections go to `name` in the address.

    token: the upload's; columns: canonical name → column of the file; known: canonical names that it could have; role:
    the file's, for their words.
    """
    boxes = st.columns(3)
    for index, canonical in enumerate([*columns, *(canonical for canonical in known if canonical not in columns)]):
        options = [NONE, *file_columns]
        chosen = columns.get(canonical, NONE)
        key = f"map-{name}-{token}-{canonical}"
        options = options if chosen in options else [*options, chosen]
        with boxes[index % 3]:
            st.selectbox(
                (titles or {}).get(canonical) or words(canonical, role), options,
                options.index(agreed(key, chosen) or NONE), key=key, on_change=_correct,
                args=(token, name, key, canonical, columns.get(canonical)),
            )  # fmt: skip


def summary(preview: Preview) -> str:
    """Return how a file was read, in a line: `question ← user_input · 2 kept as metadata`, or its notes."""
    parts = [
        words(canonical, preview.role) if canonical == column else f"{words(canonical, preview.role)} ← {column}"
        for canonical, column in preview.mapping.items()
    ]
    parts += [f"scores of {plural(len(preview.scored), 'class', 'classes')}"] if preview.scored else []
    others = {"kept as metadata": preview.unmapped, "ignored": preview.ignored}
    parts += [f"{len(columns)} {text}" for text, columns in others.items() if columns]
    return " · ".join(parts) or " ".join(preview.notes)


def draw_file(file: InspectedFile, name: str, files: Sequence[InspectedFile] = (), whole: bool = True) -> str:
    """Draw how an uploaded file was read, with its questions or problems; return which of them it has, else "".

    files: all those that may have the same questions; `whole`: with its columns in a line.
    """
    seen = file.preview
    if seen is None:
        st.text(f"{file.name} cannot be read")
        draw_reading(file)
        wrong = draw_answers(file.problems, {file.name: file.token})
        if wrong:
            problem_list.draw_problems(wrong, file.token)
        return "problem" if wrong else "question"
    if whole:
        st.text(line_of(file))
    draw_reading(file)
    draw_questions(file, name, files or (file,))
    return "question" if seen.questions else ""


def line_of(file: InspectedFile) -> str:
    """Return a file with its rows and how its columns were read."""
    seen = file.preview
    rows = "" if seen is None or seen.rows is None else f": {plural(seen.rows, 'row')}"
    return f"{file.name}{rows} · {summary(seen)}" if seen else file.name


def draw_answers(problems: Sequence[InputProblem], tokens: Mapping[str, str]) -> list[InputProblem]:
    """Draw the questions among the problems of files, each with its answers; return the other problems.

    tokens: of the uploads, by their names.
    """
    about = {each: each.question for each in problems if each.question is not None and each.question.option == "read"}
    asked = {(upload_of(each.file), question): each for each, question in about.items()}
    for (file, question), problem in asked.items():
        key = f"answer-{tokens[file]}-{question.name}"
        with st.container(border=True):
            st.text(f"{file}: {question.text}")
            st.caption(f"Found {problem.found}.")
            args = (key, tokens[file], question.name)
            choices = [choice for choice in question.choices if not set(choice.split(",")) <= {*question.parts}]
            if question.parts:
                taken = st.multiselect("Some of these", question.parts, question.parts, key=f"{key}-parts")
                if st.button("Take these", key=f"{key}-take", disabled=not taken):
                    take(tokens[file], question.name, ",".join(taken))
                    st.rerun()
            if question.choices:
                st.segmented_control(
                    "Answer", choices, key=key, label_visibility="collapsed", on_change=_read, args=args
                )
            else:
                st.text_input("Answer", key=key, label_visibility="collapsed", on_change=_read, args=args)
    return [each for each in problems if each not in about]


def draw_cases_file(label: str, name: str, mapped: str, hint: str) -> tuple[str, bool] | None:
    """Draw an uploader of test cases and how its file is read; return its token and whether it can be read so.

    name, mapped: the query parameters of the upload and of its columns. None without a file that can be read at all.
    """
    tokens = uploads.draw_uploads(label, name, TABLES)
    uploads.draw_refused()
    if not tokens:
        st.caption(hint)
        return None
    file = inspected_files.inspect(tokens[0], "suite", "", tuple(url.params(mapped)), tuple(url.params("read")))
    obstacle = draw_file(file, mapped)
    if file.preview is None:
        return None
    if file.canonical:
        with st.expander("Columns"):
            draw_mapping(file.token, file.preview.mapping, file.canonical, file.preview.columns, mapped)
    return tokens[0], not obstacle


def draw_decided(receipt: Receipt, tokens: Mapping[str, str]) -> None:
    """Draw the answers to each question that was decided about a file, the one taken chosen, to decide otherwise.

    tokens: of the uploads, by their names.
    """
    drawn = set()
    for line in receipt:
        file = upload_of(line.file)
        key = "-".join(("decided", tokens.get(file, ""), line.question, *line.answers[:1]))
        if line.use != "asked" or len(line.answers) < 2 or file not in tokens or key in drawn:
            continue
        drawn.add(key)
        where = file if line.place == line.question else f"{file}, {line.place}"
        st.segmented_control(
            f"{where}: {line.asks}", sorted(line.answers), default=line.answers[0], key=key, on_change=_read,
            args=(key, tokens[file], line.question),
        )  # fmt: skip


def draw_again(tokens: Iterable[str]) -> None:
    """Draw a button that takes back the answers to questions about the files of these tokens, if there are any."""
    readings = url.params("read")
    kept = [text for text in readings if any(text.startswith((f"{one}.encoding=", f"{one}.sheet=")) for one in tokens)]
    if len(kept) < len(readings) and st.button("Answer the questions about the files again"):
        url.put(read=kept)
        st.rerun()


def draw_reading(file: InspectedFile) -> None:
    """Draw the encoding of a text that is not plain UTF-8, and the sheet of a workbook that has several."""
    seen = file.preview
    if file.encoding:
        names, chosen = inspected_files.encoding_choices(file.encoding)
        hint = "Choose another one if letters look wrong in the first rows."
        _draw_choice(file, "encoding", f"{file.name} was read as", names, chosen, hint)
    if seen is not None and len(seen.sheets) > 1:
        _draw_choice(file, "sheet", f"Sheet read of {file.name}", list(seen.sheets), seen.sheet, None)


def _draw_choice(file: InspectedFile, what: str, label: str, names: list[str], chosen: str, help: str | None) -> None:
    said = what in choices_of(file.token, url.params("read"))
    names = [*dict.fromkeys((*names, chosen)), *[AS_IT_SEEMS] * said]
    key = f"read-{what}-{file.token}"
    st.selectbox(
        label, names, place(names, agreed(key, chosen)), key=key, help=help, width=280, on_change=_read,
        args=(key, file.token, what),
    )  # fmt: skip


def _read(key: str, token: str, what: str) -> None:
    answer = st.session_state[key]
    take(token, what, None if answer == AS_IT_SEEMS else answer)


def take(token: str, what: str, answer: str | None) -> None:
    """Write an answer to a question about an upload to the address; None takes it back."""
    readings = url.params("read")
    chosen = {**choices_of(token, readings), what: answer}
    url.put(read=with_pairs(token, readings, [f"{name}={taken}" for name, taken in chosen.items() if taken]))


def _answer(tokens: Sequence[str], name: str, key: str, column: str) -> None:
    if (choice := st.session_state[key]) is not None:
        _answer_for(tokens, name, choice, column)


def _answer_for(tokens: Sequence[str], name: str, canonical: str, column: str) -> None:
    for token in tokens:
        texts = url.params(name)
        url.put(**{name: with_pairs(token, texts, changed(pairs_of(token, texts), canonical, column))})


def _correct(token: str, name: str, key: str, canonical: str, before: str | None) -> None:
    column, texts = st.session_state[key], url.params(name)
    pairs = changed(pairs_of(token, texts), canonical, None if column == NONE else column, before)
    url.put(**{name: with_pairs(token, texts, pairs)})
