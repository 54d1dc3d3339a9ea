"""Flips: planted ones are listed exactly, copies give the base rate, and only what exceeds it is called more."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from scipy import stats

from metrics.analysis import flip_rates, flips, leaderboard, problems
from metrics.analysis.findings.flips import FLIPS, RATES
from metrics.analysis.findings.problems import flip_evidence
from metrics.cli.gate_command import print_leaderboard
from metrics.core.suite import Outputs, Suite
from metrics.presentation.questions.do_small_changes_matter import answer, count_flips, flip_lines
from metrics.reports import render
from metrics.reports.build import build
from metrics.reports.exchange.exporters import export
from metrics.reports.renderers.export_tables import table
from metrics.stats.intervals import wilson
from metrics.store import Run, Workspace
from tests.analysis.findings.variants import perturbed_run
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.random_seeds import seeds

PLANTED = {"steady": (), "shaky": [f"c{index}-typo" for index in range(8)]}


@pytest.fixture(scope="module")
def planted(shelf: Workspace) -> Run:
    return perturbed_run(PLANTED, workspace=shelf)


def rate(frame, model: str, kind: str, metric: str = "passes"):
    (row,) = frame[frame["model"].eq(model) & frame["perturbation"].eq(kind) & frame["metric"].eq(metric)].to_dict(
        "records"
    )
    return row


def test_planted_flips_are_listed_exactly(workspace: Path) -> None:
    run = perturbed_run(PLANTED, failing=(0, 11))
    found = flips(run)
    assert found["case_id"].tolist() == [f"c{index}-typo" for index in (*range(1, 8), 0)]
    assert found["original"].tolist() == [f"c{index}" for index in (*range(1, 8), 0)]
    assert (set(found["model"]), found["change"].tolist()) == ({"shaky"}, ["worse"] * 7 + ["better"])
    assert found[["before", "after"]].to_numpy().tolist() == [[1.0, 0.0]] * 7 + [[0.0, 1.0]]
    row = rate(flip_rates(run), "shaky", "typo")
    assert (row["flips"], row["worse"], row["better"], row["pairs"], row["unscored"]) == (8, 7, 1, 12, 0)
    assert (row["low"], row["high"]) == wilson(8, 12)
    assert found.columns.tolist() == FLIPS
    rates = flip_rates(run)
    assert rates.columns.tolist() == RATES
    assert rates[["model", "perturbation"]].drop_duplicates().to_numpy().tolist() == [
        ["steady", "typo"], ["steady", "copy"], ["shaky", "typo"], ["shaky", "copy"],
    ]  # fmt: skip


@settings(max_examples=len(seeds(6, 100)), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.tuples(st.integers(0, 5), st.sampled_from(["copy", "typo", "ocr"]))), st.sets(st.integers(0, 5)))
def test_whatever_is_planted_is_found(workspace: Path, planted: set[tuple[int, str]], failing: set[int]) -> None:
    wanted = {f"c{index}-{kind}" for index, kind in planted}
    run = perturbed_run({"one": wanted}, 6, ("copy", "typo", "ocr"), failing)
    found = flips(run)
    assert (set(found["case_id"]), len(found)) == (wanted, len(wanted))
    assert int(flip_rates(run)["flips"].sum()) == len(wanted)
    assert set(found.loc[found["change"].eq("better"), "original"]) <= {f"c{index}" for index in failing}


def test_copies_never_flip_where_everything_is_deterministic(workspace: Path) -> None:
    run = perturbed_run(PLANTED, 12, ("copy", "typo"), (3,), "looping_detection", "pii_leakage", "rouge", "json_schema")
    controls = flip_rates(run).query("control")
    assert len(controls) >= 2 * 3
    assert (controls["flips"] == 0).all()
    assert (controls["pairs"] > 0).all()
    assert controls["p"].isna().all()  # the control is not tested against itself
    assert (controls[["control_pairs", "control_flips"]] == 0).all(axis=None)
    assert controls["control_rate"].isna().all()


def test_the_excess_over_the_copies_is_tested_and_corrected(workspace: Path) -> None:
    flipped = {
        "steady": [], "shaky": [f"c{index}-typo" for index in range(8)],
        "noisy": [f"c{index}-{kind}" for index in range(4) for kind in ("copy", "typo")] + ["c5-typo"],
    }  # fmt: skip
    rates = flip_rates(perturbed_run(flipped))
    shaky, noisy, steady = (rate(rates, model, "typo") for model in ("shaky", "noisy", "steady"))
    assert shaky["p"] == pytest.approx(stats.binomtest(8, 8, alternative="greater").pvalue)
    assert noisy["p"] == pytest.approx(0.5)  # one case tells: the four others flip as copies too
    assert (shaky["adjusted"], noisy["adjusted"]) == (pytest.approx(2 * shaky["p"]), pytest.approx(0.5))
    assert steady["p"] != steady["p"]  # no flip: no test could have come out otherwise
    assert (noisy["control_flips"], noisy["control_pairs"], noisy["control_rate"]) == (4, 12, pytest.approx(1 / 3))
    assert [bool(row["exceeds"]) for row in (shaky, noisy, steady)] == [True, False, False]
    assert [flip_evidence(row) for row in (shaky, noisy, steady)] == [
        "copies flip in 0 of 12; significantly more than copies (exact test, p = 0.008 after Holm's correction)",
        "copies flip in 4 of 12; not significantly more than copies (exact test, p = 0.500 after Holm's correction)",
        "copies flip in 0 of 12",
    ]
    assert flip_evidence(rate(rates, "noisy", "copy")).startswith("unchanged copies flipped")


def test_without_copies_nothing_is_claimed(workspace: Path) -> None:
    run = perturbed_run({"shaky": [f"c{index}-typo" for index in range(9)]}, kinds=("typo",))
    row = rate(flip_rates(run), "shaky", "typo")
    assert (row["flips"], row["exceeds"], row["control_pairs"]) == (9, None, 0)
    (problem,) = problems(run).query("kind == 'flips'").to_dict("records")
    assert problem["severity"] == "unknown"
    assert problem["evidence"] == ("the suite has no copies of these cases to separate the perturbation from chance")


def test_several_variants_of_one_original_are_alike(workspace: Path) -> None:
    """Two originals with four variants each: the interval's n is 2, and the test knows who belongs to whom."""
    cases = [{"case_id": f"c{index}", "conditions": '"ferry"'} for index in range(2)]
    variants = [
        {"case_id": f"c{index}-{number}", "conditions": '"ferry"', "perturbs": f"c{index}",
         "perturbation": "Copy" if number == 4 else "typo"}
        for index in range(2) for number in range(5)
    ]  # fmt: skip
    answers = {case["case_id"]: "ferry" for case in cases} | {
        variant["case_id"]: "boat" if variant["case_id"] in ("c0-0", "c0-1", "c0-2", "c0-3") else "ferry"
        for variant in variants
    }
    outputs = Outputs.from_rows(
        {"case_id": case, "model": "one", "answer": answer} for case, answer in answers.items() if case != "c1-3"
    )
    run = finished(Workspace(), Suite.from_rows("s", "text", [*cases, *variants]), outputs, "text_matching")
    row = rate(flip_rates(run), "one", "typo")
    assert (row["pairs"], row["flips"], row["unscored"]) == (7, 4, 1)
    assert (row["low"], row["high"]) == wilson(2 * 4 / 7, 2)
    assert row["p"] == pytest.approx(stats.fisher_exact([[4, 0], [0, 1]], alternative="greater")[1])
    assert bool(flip_rates(run).set_index("perturbation").loc["Copy", "control"])


def test_flips_are_problems_with_all_that_belongs_to_them(planted: Run) -> None:
    (row,) = problems(planted).query("kind == 'flips'").to_dict("records")
    assert row["message"] == (
        "shaky: Text matching: Passes flips in 8 of 12 cases perturbed by typo; 8 of them are now on the wrong side of "
        "0.5"
    )
    assert row["evidence"] == (
        "copies flip in 0 of 12; significantly more than copies (exact test, p = 0.004 after Holm's correction)"
    )
    assert (row["severity"], row["affected"], row["perturbation"]) == ("high", 8, "typo")
    assert row["case_ids"] == PLANTED["shaky"]
    assert "SR 11-7: outcomes analysis" in row["standards"]


def test_each_flipped_case_is_a_problem_behind_that_of_its_metric(workspace: Path) -> None:
    """H2O reports one for each perturbed case and model; they stand behind the one that counts them."""
    run = perturbed_run(PLANTED, failing=(0, 11))
    found = problems(run)
    (place,) = found.index[found["kind"].eq("flips")]
    own = found[found["kind"].eq("flip")]
    assert own.index.tolist() == list(range(place + 1, place + 9))
    assert [ids[0] for ids in own["case_ids"]] == flips(run)["case_id"].tolist()
    assert len(own) == found.loc[place, "affected"] == 8
    assert set(own["severity"]) == {found.loc[place, "severity"]} == {"high"}
    assert own["message"].tolist()[:: len(own) - 1] == [
        "shaky: Text matching: Passes of c1-typo (typo of c1) flips from 1.00 to 0.00, now on the wrong side of 0.5",
        "shaky: Text matching: Passes of c0-typo (typo of c0) flips from 0.00 to 1.00, now on the good side of 0.5",
    ]


def test_every_place_lists_the_flipped_cases(planted: Run, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Page, report, its JSON, Markdown, the terminal and exports have the same cases; of many the first."""
    cases = [f"c{index}-typo" for index in range(8)]
    lines = problems(planted).query("kind == 'flip'")["message"].tolist()
    tables = [block for section in build(planted).sections for block in section.tables]
    (table_of_cases,) = (one for one in tables if one.title == "Flips by test case")
    assert [row[0] for row in table_of_cases.rows] == cases
    assert [link.where["case"] for link in table_of_cases.links] == cases
    assert all(case in render(planted, form).decode() for case in cases for form in ("html", "json", "md"))
    assert "### Flips by test case" in render(planted, "md").decode()
    print_leaderboard(planted)
    assert capsys.readouterr().out.splitlines()[-8:] == lines == list(flip_lines(planted, 8))
    assert list(flip_lines(planted, 2)) == [*lines[:2], "6 more flips; export --what flips has all"]
    assert [row["message"] for row in json.loads(export(planted, "problems")) if row["kind"] == "flip"] == lines
    assert list(flip_lines(finished(Workspace(), text_suite(), text_outputs(), "rouge"), 8)) == []


def test_a_flip_counts_once_whatever_mirrors_its_metric_and_copies_apart(workspace: Path) -> None:
    flipped = {"shaky": ["c0-typo", "c1-typo", "c1-copy"]}
    limits = {"text_matching": {"thresholds": {"passes": 0.5, "failures": 0.5, "generation_failures": 0.5}}}
    run = perturbed_run(flipped, parameters=limits)
    assert {"failures", "generation_failures"} <= {each.metric for each in leaderboard(run).columns if not each.minor}
    assert flips(run)[["case_id", "metric"]].to_numpy().tolist() == [
        [case, "passes"] for case in ("c0-typo", "c1-typo", "c1-copy")
    ]
    assert sorted(problems(run).query("kind == 'flips'")["affected"]) == [1, 2]
    assert count_flips(flip_rates(run)) == 2
    assert answer(flip_rates(run)).startswith("2 flips; ")


def test_the_export_lists_them(planted: Run) -> None:
    assert table(planted, "flips")["case_id"].tolist() == PLANTED["shaky"]
    assert table(planted, "flip_rates")["flips"].sum() == 8
    assert flips(planted, model="steady").empty
    assert len(flips(planted, model="shaky", perturbation="typo")) == 8


def test_a_suite_without_variants_has_none(workspace: Path) -> None:
    run = finished(Workspace(), text_suite(), text_outputs(), "rouge")
    assert flips(run).empty
    assert flip_rates(run).empty
