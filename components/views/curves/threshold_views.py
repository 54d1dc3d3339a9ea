"""Views by score threshold: precision over recall, F1, and outcomes."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from components.charts import outcome_areas, threshold_curves
from components.data import boards, reviews, run_reads
from components.viewers import tile_gallery
from components.views.curves import curve_parts
from components.views.objects import object_list, point_controls
from components.widgets import controls, filters, url
from components.widgets.chart import chart
from components.widgets.frame import is_dark
from metrics.presentation import format
from metrics.presentation.chart_data import curve_points

EDGE = 7  # pictures
SECONDS = 2.0  # for their thumbnails the first time
POOLED = "Counted over all classes together. The leaderboard's best F1 is macro: the mean over classes."
FAMILIES = {"fp": "False", "fn": "Missed", "tp": "Found"}


def threshold_slider(run: str, model: str, points: pd.DataFrame) -> float:
    """Draw the slider of the curves' score thresholds, which the views share in the address; return its value.

    With objects it begins next to the model's operating point, and a button makes its value that of every model.
    """
    at = sorted(points["threshold"].unique().tolist()) or [0.5]
    if not run_reads.match_evaluators(run):
        return controls.steps("Score threshold", "threshold", curve_points.nearest(at, 0.5), at)
    point = point_controls.point_of(run, object_list.state_here(), model)
    default = curve_points.nearest(at, point.score)
    threshold = controls.steps("Score threshold", "threshold", default, at)
    if threshold != default and boards.may_note(run):
        st.button(
            f"Use {threshold:.2f} for all models", icon=":material/push_pin:", type="tertiary",
            help=f"In gallery, case and confusion. Now {model} counts from {point.score:.2f}, IoU ≥ {point.iou:.2f}.",
            on_click=reviews.choose_operating_point, args=(run, threshold, point.iou),
        )  # fmt: skip
    return threshold


def leading_line(run: str, series: Sequence[str], places: Mapping[str, tuple[str, int]]) -> str:
    """Return the line, of those drawn, of the model that comes first on the leaderboard."""
    ranked = run_reads.headline(run).models
    return min(series, key=lambda name: ranked.index(places[name][0]))


def show_thresholds(run: str, evaluator: str) -> None:
    """Draw precision over recall with a marker at the threshold, and the objects behind a point."""
    frame = curve_parts.curves(run, evaluator)
    series, colours, places = curve_parts.choose_series(frame)
    labels = curve_points.worst_first(frame)
    chosen = curve_parts.choose_labels(labels, curve_points.ALL)
    filters.reset(["model", "label"])
    points = frame[frame["series"].isin(series)]
    pool = curve_points.pooled(points, labels)
    points = curve_parts.ordered(pd.concat([pool, points]), chosen)
    left, right = st.columns(curve_parts.COLUMNS)
    pictured = evaluator in run_reads.match_evaluators(run)
    high = 340 if pictured else 380  # so that the pictures begin above the fold
    with left:
        threshold = threshold_slider(run, places[leading_line(run, series, places)][0], frame)
        chart(
            threshold_curves.threshold_figure(points, threshold, colours, is_dark(), pixels_high=high),
            "points",
            f"Precision over recall of {', '.join(series)} at score threshold {threshold:.2f}",
            curve_parts.picked("of", "of_class", "threshold"),
        )
    of, of_class = url.param("of", ""), url.param("of_class", "")
    with right:
        if of in places and of_class in (curve_points.ALL, *labels):
            wanted = tuple(labels) if of_class == curve_points.ALL else (of_class,)
            _show_matches(run, evaluator, of, places[of], wanted, of_class, threshold)
        else:
            _show_counts(curve_points.at_threshold(pool, threshold), curve_points.best_threshold(pool), threshold)
            st.caption(f"Click a point of a curve to see the {curve_parts.words(run).things} behind it.")
    if pictured:
        of = of if of in places else leading_line(run, series, places)
        shown = [of_class] if of_class in labels else [label for label in chosen if label in labels]
        if curve_points.ALL in chosen and not of_class:
            shown = []
        _show_edge(run, evaluator, of, places[of], shown, threshold)


def _show_edge(run: str, evaluator: str, of: str, series: tuple[str, int], labels: list[str], threshold: float) -> None:
    """Draw the objects that score just above the threshold; they follow the slider."""
    choice: dict[str, Any] = {"model": series[0], "repeat": series[1], "labels": tuple(labels), "score_low": threshold}
    kinds = run_reads.object_counts(run, evaluator, **choice)["kind"]
    chosen = tuple(tile_gallery.asked_kinds(["fp", "tp"], list(kinds)))
    found = run_reads.objects(run, evaluator, "score_up", False, EDGE, 0, **choice, kinds=chosen) if chosen else None
    name = f"{format.shorten(of, 30)}, {', '.join(format.shorten(label, 20) for label in labels[:3]) or 'all classes'}"
    if found is None or not found.tiles:
        st.text(f"{name}: no prediction scores {threshold:.2f} or more.")
        return
    st.text(f"{name}: scored just above {threshold:.2f}, the next to drop out if the threshold rises")
    windows = [tile_gallery.window(tile) for tile in found.tiles]
    pictures = run_reads.thumbnails(run, tile_gallery.wanted(found.tiles, windows), SECONDS)
    wanted: dict[str, url.Value] = {
        "evaluator": evaluator, "repeat": series[1], "label": labels, "kind": ["fp", "tp"], "score": threshold,
        "sort": "score_up",
    }  # fmt: skip
    state = urlsplit(url.href("gallery", run=run, model=series[0], **wanted)).query
    about: dict[str, url.Value] = {
        "run": run,
        "evaluator": evaluator,
        "model": series[0],
        "compare": series[0],
        "score": threshold,
    }
    hrefs = [
        url.href("case", **about, case=tile.case_id, object=tile.objects[0].key, gallery=state).lstrip("/")
        for tile in found.tiles
    ]
    tile_gallery.gallery(tile_gallery.payload(found.tiles, windows, pictures, hrefs, False), key="edge")
    curve_parts.pictures_link(run, series[0], wanted, f"See all {format.count(found.total)} as pictures")


def _show_counts(here: pd.DataFrame, best: pd.DataFrame, threshold: float) -> None:
    """Draw each model's rates at the threshold, and its best threshold."""
    st.text(f"All classes at score ≥ {threshold:.2f}")
    with st.container(height=370 if len(here) > 4 else "content", border=False):
        for row in here.to_dict("records"):
            with st.container(border=True, gap="xsmall"):
                name = row["series"]
                if (curve_points.ALL, name) in best.index:
                    top = best.loc[(curve_points.ALL, name)]
                    name += f" – best pooled F1 {format.number(top['f1'])} at {top['threshold']:.2f}"
                st.text(name, help=POOLED)
                st.text(threshold_curves.rates(row))


def _show_matches(
    run: str, evaluator: str, of: str, series: tuple[str, int], labels: tuple[str, ...], name: str, threshold: float
) -> None:
    rows, counts = run_reads.working_point(run, evaluator, series, labels, threshold)
    said = curve_parts.words(run)
    st.text(f"{of}, {name}, score ≥ {threshold:.2f}")
    if rows.empty:
        st.info(f"No {said.things} are recorded for this point. Click another one.")
    else:
        texts = {family: f"{title} {format.count(counts.get(family, 0))}" for family, title in FAMILIES.items()}
        family = controls.choice("Kind", texts, "kind")
        rows = rows[rows["family"] == family]
        if len(labels) == 1:
            rows = rows.drop(columns="label")
        curve_parts.list_things(
            run, rows.reset_index(drop=True), counts.get(family, 0), f"matches-{of}-{name}-{threshold}-{family}", said,
            series[0], evaluator=evaluator, score=threshold, label=labels[0] if len(labels) == 1 else None,
        )  # fmt: skip
        if said is curve_parts.DETECTION:
            only = None if len(labels) > 1 else labels
            about: dict[str, url.Value] = {"evaluator": evaluator, "repeat": series[1], "label": only}
            about |= {"score": threshold, "kind": [family]}
            curve_parts.pictures_link(run, series[0], about)
    curve_parts.back("Back to the counts", "of", "of_class", "kind")


def show_f1(run: str, evaluator: str) -> None:
    """Draw F1 over the threshold with the best of each model, and the numbers with intervals."""
    frame = curve_parts.curves(run, evaluator)
    series, colours, lines = curve_parts.choose_series(frame)
    chosen = curve_parts.choose_labels(curve_points.worst_first(frame), curve_parts.MEAN)
    filters.reset(["model", "label"])
    points = frame[frame["series"].isin(series)]
    points = curve_parts.ordered(pd.concat([curve_points.mean_f1(points, curve_parts.MEAN), points]), chosen)
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        threshold = threshold_slider(run, lines[leading_line(run, series, lines)][0], frame)
        chart(
            threshold_curves.f1_figure(points, threshold, colours, is_dark()),
            "f1",
            f"F1 over the score threshold of {', '.join(series)}, the best threshold of each marked",
            curve_parts.picked(None, None, "threshold"),
        )
    with right:
        numbers = curve_parts.label_numbers(run, evaluator, ("best_f1", "best_threshold"))
        at = numbers[numbers["metric"] == "best_threshold"].set_index(["series", "label"])["value"]
        rows = curve_parts.of_labels(numbers[numbers["metric"] == "best_f1"], chosen)
        places = zip(rows["series"], rows["label"], strict=True)
        rows = rows.assign(At=[f"{at.get(place, float('nan')):.2f}" for place in places])
        st.text("Best F1 and its threshold")
        curve_parts.numbers_table(rows.drop(columns="n"), "F1", series, height=295)
        overall = numbers[(numbers["metric"] == "best_threshold") & numbers["label"].isna()]
        overall = overall[overall["series"].isin(series)].dropna(subset=["value"])
        if len(overall):
            best = overall.iloc[0]
            if st.button(f"See what happens at {best['value']:.2f}", type="primary", icon=":material/arrow_forward:"):
                url.put(view=None, evaluator=evaluator, threshold=float(best["value"]), model=[best["series"]])
                st.rerun()
        st.caption(
            "The interval is that of the best threshold; it ignores that the threshold was chosen on the same data. "
            "Click a point to move the slider there."
        )


def show_outcomes(run: str, evaluator: str) -> None:
    """Draw the outcome of every object at each threshold, and examples of each kind."""
    frame = curve_parts.curves(run, evaluator)
    series, _, places = curve_parts.choose_series(frame, most=3)
    label = filters.one("Class", list(dict.fromkeys(frame["label"])), "label", every="All classes")
    filters.reset(["model", "label"])
    rows = frame[frame["series"].isin(series)]
    rows = rows[rows["label"] == label] if label else rows
    kinds = outcome_areas.kinds_in(rows)
    said = curve_parts.words(run)
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        threshold = threshold_slider(run, places[leading_line(run, series, places)][0], frame)
        chart(
            outcome_areas.outcomes_figure(rows, threshold, said.things, is_dark()),
            "outcomes",
            f"Right, mistaken and missed {said.things} of {', '.join(series)} by score threshold",
            curve_parts.picked("of", "kind", "threshold"),
        )
    here = curve_points.at_threshold(rows, threshold)
    of, kind = url.param("of"), url.param("kind", "")
    with right:
        if of in series and kind in kinds:
            _show_examples(run, evaluator, here[here["series"] == of], kind, threshold)
            return
        st.text(f"{label or 'All classes'} at score ≥ {threshold:.2f}")
        counts = outcome_areas.counted(here).pivot_table(index="kind", columns="series", values="count", sort=False)
        table = counts.reindex(index=kinds, columns=series).rename(index=lambda name: outcome_areas.KINDS[name][0])
        table = table.fillna(0).astype(int).rename_axis(None)
        config = {name: st.column_config.NumberColumn(format="localized", width=78) for name in series}
        st.dataframe(table, column_config=config | {"_index": st.column_config.Column(width=140)})
        st.caption(
            f"Above the line every true {said.thing} by outcome; below it false predictions. "
            "Click a bar to see examples."
        )


def _show_examples(run: str, evaluator: str, rows: pd.DataFrame, kind: str, threshold: float) -> None:
    of, total = rows["series"].iloc[0], int(rows.loc[rows["kind"] == kind, "count"].sum())
    said = curve_parts.words(run)
    st.text(f"{of}, {outcome_areas.KINDS[kind][0]}, score ≥ {threshold:.2f}")
    found = outcome_areas.examples_behind(rows, kind)
    if rows["label"].nunique() == 1:
        found = found.drop(columns="label")
    if found.empty and total:
        st.info("The run stored no examples: evaluate with more of them (pr_curve_max_examples).")
    else:
        curve_parts.list_things(
            run, found, total, f"examples-{of}-{kind}-{threshold}", said, rows["model"].iloc[0],
            evaluator=evaluator, score=threshold if said is curve_parts.DETECTION else None,
        )  # fmt: skip
    curve_parts.back("Back to the counts", "of", "kind")
