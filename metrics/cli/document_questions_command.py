"""`suites from-documents` and `approve`: write questions about documents, and make a suite of the approved ones."""

import argparse
import sys
from dataclasses import replace
from functools import partial
from typing import Any

from metrics import questions
from metrics.cli.execution import print_found
from metrics.cli.options import add_flags, add_parser, names_of, pairs
from metrics.cli.progress_view import count, follow
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.engine.evaluation import EstimateFields, EvaluatorFields, JudgeFields
from metrics.ingest import read_suite
from metrics.ingest.documents import ENDINGS, read_documents
from metrics.library.judge_choice import judge_settings
from metrics.models.embedder import BUNDLED
from metrics.questions.draft import ID
from metrics.questions.kinds import QUESTION_KINDS
from metrics.questions.settings import QuestionSettings
from metrics.store import Workspace
from metrics.store.table_files import check_format, write_suite

FIELDS = QuestionSettings.model_fields


def add_actions(actions: Any) -> None:
    """Add from-documents and approve to the actions of `suites`."""
    _add_from_documents(actions)
    _add_approve(actions)


def _add_from_documents(actions: Any) -> None:
    listed = " ".join(f"{kind.name} ({kind.share:g}): {kind.says}." for kind in QUESTION_KINDS.values())
    command = add_parser(
        actions, "from-documents", _from_documents, epilog=f"Kinds, with their weights. {listed}",
        help="let a judge write test questions, with reference answers, about documents",
    )  # fmt: skip
    add = command.add_argument
    add("documents", metavar="DOCUMENTS", nargs="+", help=f"folders, zips or files: {', '.join(ENDINGS)}")
    add("-o", "--output", metavar="FILE", help="file of questions: .jsonl, .csv, .parquet")
    add("--number", type=int, default=20, help="questions to write (default 20)")
    add("--kinds", metavar="KIND=WEIGHT,…", help="kinds of questions and their weights (default: all, weighted)")
    add("--languages", metavar="LANGUAGE,…", help="languages to ask in, in turn (default: that of each document)")
    for flag, (field, what) in {
        "--words": ("words", "words of a question (default 5-30)"),
        "--answer-words": ("answer_words", "words of a reference answer (default 1-100)"),
    }.items():
        add(flag, metavar="LEAST-MOST", dest=field, help=what)
    for name, metavar in (("chunk_size", "CHARACTERS"), ("min_document", "CHARACTERS"), ("per_document", "N")):
        add(
            "--" + name.replace("_", "-"), type=int, metavar=metavar, help=_sentence(name), default=FIELDS[name].default
        )
    add("--duplicate", type=float, metavar="COSINE", default=FIELDS["duplicate"].default, help=_sentence("duplicate"))
    add("--no-check", action="store_true", help="do not ask the judge whether each question holds")
    add("--seed", type=int, default=0, help="the same seed chooses the same passages (default 0)")
    add("--name", default="", help="name of the draft")
    add("--skip-unreadable", action="store_true", help="pass over documents that cannot be read instead of stopping")
    add("--approve-all", action="store_true", help="approve every question unseen: the file is a suite at once")
    add_flags(command, EvaluatorFields, without=EvaluatorFields.model_fields.keys() - {"embedder"})
    add_flags(command, JudgeFields, EstimateFields)


def _sentence(name: str) -> str:
    text = str(FIELDS[name].description).rstrip(".")
    default = FIELDS[name].default
    return text[:1].lower() + text[1:] + (f" (default {default:g})" if default is not None else "")


def _add_approve(actions: Any) -> None:
    command = add_parser(
        actions, "approve", _approve, help="make a suite of the approved questions of a file or of a draft"
    )
    command.add_argument(
        "draft", metavar="DRAFT", help="file of questions with metadata.status, or the id of a draft of the workspace"
    )
    command.add_argument("--all", action="store_true", help="approve the questions that nobody has decided on as well")
    command.add_argument("--name", help="name of the suite")
    command.add_argument("-o", "--output", metavar="FILE", help="file to write: .jsonl, .csv, .parquet")


def _from_documents(options: argparse.Namespace) -> None:
    settings = questions.question_settings(_settings(options))
    judge = judge_settings(JudgeFields.of(options))
    if options.output:
        check_format(options.output)  # before a judge is paid
    elif not options.dry_run:
        raise InputError([InputProblem("--output", "nothing", "a file: .jsonl, .csv, .parquet")])
    read = read_documents(options.documents)
    if read.problems and not options.skip_unreadable:
        raise InputError([*read.problems])
    for problem in read.problems:
        say(f"passed over: {problem}", file=sys.stderr)
    if options.dry_run:
        if judge is None:
            say("no judge calls: no judge is chosen")
        else:
            print_found(questions.estimate(read.documents, settings, judge, options.workspace))
        return
    workspace = Workspace(options.workspace)
    with follow(options) as listen:
        draft = questions.write_questions(
            read.documents, settings, judge, name=options.name, workspace=workspace.path,
            embedder=options.embedder or BUNDLED, listen=partial(count, listen),
        )  # fmt: skip
    reviews = {each.id: questions.Review(status="approved") for each in draft.questions if options.approve_all}
    if not options.quiet:
        _report(draft)
    if not draft.questions:
        raise InputError([InputProblem(draft.name, "no question that holds", "documents with something to ask about")])
    draft_id = questions.save_draft(workspace.path, draft)
    if reviews:
        questions.review(workspace.path, draft_id, reviews)
    write_suite(draft.suite(reviews=reviews, statuses=("proposed", "approved")), options.output)
    say(f"{len(draft.questions):,} questions in {options.output}, draft {draft_id}")


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    given = {"number", "chunk_size", "min_document", "per_document", "duplicate", "seed"}
    found = {name: getattr(options, name) for name in given} | {"check": not options.no_check}
    if options.kinds:
        weights = pairs(names_of(options.kinds), "--kinds", "KIND=WEIGHT")
        found["weights"] = {kind: _number("--kinds", weight) for kind, weight in weights}
    if options.languages:
        found["languages"] = tuple(names_of(options.languages))
    for name in ("words", "answer_words"):
        if text := getattr(options, name):
            least, _, most = text.partition("-")
            flag = "--" + name.replace("_", "-")
            found |= {f"min_{name}": int(_number(flag, least)), f"max_{name}": int(_number(flag, most or least))}
    return found


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError([InputProblem(option, repr(text), "a number")]) from None


def _report(draft: Any) -> None:
    """Print how many questions each kind gave, and why others were dropped, on standard error."""
    for name in QUESTION_KINDS:
        if count := sum(entry.kind == name for entry in draft.questions):
            say(f"{name}: {count:,}", file=sys.stderr)
    for reason, count in draft.reasons.items():
        say(f"  {count:,} dropped: {reason}", file=sys.stderr)
    missing = draft.settings.number - len(draft.questions)
    if missing:
        say(f"  {missing:,} fewer than asked for{f': {draft.stopped}' * bool(draft.stopped)}", file=sys.stderr)


def _approve(options: argparse.Namespace) -> None:
    if options.output:
        check_format(options.output)
    workspace = Workspace(options.workspace)
    if ID.fullmatch(options.draft):
        draft, reviews = questions.read_draft(workspace.path, options.draft)
        suite = draft.suite(reviews=reviews, statuses=("proposed", "approved", "dropped"))
    else:
        suite = read_suite(options.draft)
    suite = questions.approved(suite, options.all)
    suite = replace(suite, name=options.name or suite.name)
    stored = workspace.save_suite(suite)
    if options.output:
        write_suite(suite, options.output)
    if not options.quiet:
        say(f"{len(suite):,} cases approved; stored as {suite.name!r}", file=sys.stderr)
    say(options.output or stored)
