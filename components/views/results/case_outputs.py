"""The outputs of a case that stand side by side: of the models chosen, or of one and what it is compared with."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from components.data import case_views, run_reads, workspace_runs
from components.viewers import text_case
from components.views.objects.image_case import Shown
from components.views.results import case_choice
from components.widgets import filters
from metrics.presentation.marked_text import Part, compare_texts


class Beside(NamedTuple):
    """The outputs to show, and by column the case of the run that each is of.

    is_pair: they are one that is compared with, at the left, and the one compared.
    """

    shown: list[Shown]
    views: Mapping[str, case_views.CaseView]
    is_pair: bool = False

    def scores(self) -> pd.DataFrame:
        """Return the scores of the outputs, with the output's `column`."""
        found = []
        for column, output in self.shown:
            scores = self.views[column].scores
            own = scores[(scores["model"] == output["model"]) & (scores["run"] == output["run"])]
            found.append(own.assign(column=column))
        every: pd.DataFrame = pd.concat(found, ignore_index=True)
        return every

    def answers(self) -> list[str]:
        """Return the answers, without those that there are not."""
        return [shown.output["answer"] for shown in self.shown if shown.output["answer"]]

    def marked_answers(self) -> Mapping[str, Sequence[Part]]:
        """Say how the two answers differ; return them by column, with the words marked that only one has."""
        both = compare_texts(*self.answers())
        st.text(both.sentence)
        return dict(zip((shown.column for shown in self.shown), (both.first, both.second), strict=True))


def choose(run: str, view: case_views.CaseView, model: str | None, runs: bool) -> Beside:
    """Choose the outputs to show; by default that of the list's model and of those that lead.

    runs: offer the answers of other runs to compare with.
    """
    ranked = run_reads.headline(run).models
    several = len({output["run"] for output in view.outputs}) > 1
    every = [
        Shown(f"{output['model']} #{output['run']}" if several else output["model"], output)
        for output in sorted(view.outputs, key=lambda output: ranked.index(output["model"]))
    ]
    first = sorted(every, key=lambda shown: shown.output["model"] != model)
    offered = case_choice.baselines(run, ranked)
    offered = {name: title for name, title in offered.items() if runs or not name.startswith(case_choice.RUN)}
    against = filters.one("Compare with", offered, "baseline", "Nothing")
    if against and every and (pair := _pair(view, first, against, offered[against])):
        return pair
    names = {shown.column: shown.column for shown in every}
    unasked = "All" if len(names) <= text_case.COLUMNS else f"{text_case.COLUMNS} of them"
    asked = filters.many("Models side by side", names, "compare", unasked) if len(names) > 1 else []
    chosen = [shown for shown in every if shown.column in asked] or first
    return Beside(chosen[: text_case.COLUMNS], dict.fromkeys(names, view))


def _pair(view: case_views.CaseView, every: Sequence[Shown], against: str, title: str) -> Beside | None:
    """Return what an output is compared with, and the output; None, and say so, where that has no answer."""
    kind, _, name = against.partition(":")
    if f"{kind}:" == case_choice.MODEL:
        base = next((shown for shown in every if shown.output["model"] == name), None)
        own = next((shown for shown in every if shown.output["model"] != name), None)
        there = view
    else:
        own, found = every[0], case_views.example(name, view.case["case_id"])
        there, is_only = found or view, len(workspace_runs.run_facts(name).models) == 1
        base = None if found is None else _twin(own.output, found.outputs, is_only, title)
        if found and any(found.case[part] != view.case[part] for part in ("question", "expected_answers")):
            st.text(f"{title}: there the case asks or expects something else.")
    if base is None or own is None:
        st.text(f"{title}: nothing to compare with in this case.")
        return None
    return Beside([base, own], {base.column: there, own.column: view}, is_pair=True)


def _twin(output: Mapping[str, Any], others: Sequence[Mapping[str, Any]], is_only: bool, title: str) -> Shown | None:
    """Return the output of the same model in another run, or of its only one, of the same repeat if there is one."""
    own = [other for other in others if is_only or other["model"] == output["model"]]
    own.sort(key=lambda other: other["run"] != output["run"])
    return Shown(f"{own[0]['model']} · {title}", own[0]) if own else None
