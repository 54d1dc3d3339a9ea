"""The leaderboard's other forms: what they draw, what they leave out, where a filter takes them."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from metrics.core.files import write_json
from metrics.store import Run, Workspace
from tests.analysis.leaderboard.noise_scenes import noisy_run
from tests.analysis.scored import scored_run
from tests.pages.conftest import Open
from tests.pages.page_scenes import told

MODELS = ("sharp", "blunt", "<b>odd</b>")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run of three models and four metrics, and one of 20 models without times or costs."""
    folder = tmp_path_factory.mktemp("forms")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_WORKSPACE", str(folder))
        names = ("context_recall", "answer_correctness", "faithfulness", "hallucination_claims")
        own = {model: [((index * 7 + place) % 10) / 10 for index in range(12)] for place, model in enumerate(MODELS)}
        taken = {model: {"duration_s": [1.0 + place] * 12, "cost_usd": [0.03 - place / 100] * 12}
                 for place, model in enumerate(MODELS)}  # fmt: skip
        scored_run({f"{name}.{name}": own for name in names}, None, taken)
        scored_run({"context_recall.context_recall": {f"m{place}": [place / 20] * 4 for place in range(20)}})
    return folder


@pytest.fixture
def runs(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(place))
    return sorted(Workspace().runs(), key=lambda run: len(run.models))


def captions(page: AppTest) -> str:
    assert not page.exception
    return "\n".join(caption.value for caption in page.caption)


def test_the_menu_of_charts_writes_the_address(runs: list[Run], open_page: Open) -> None:
    page = open_page("leaderboard", run=runs[0].id)
    page.menu_button(key="menu-form").click("radar").run()
    assert not page.exception
    assert page.query_params["form"] == "radar"
    assert "Each spoke runs from the worst value" in captions(page)


def test_the_radar_has_a_row_for_every_point(runs: list[Run], open_page: Open) -> None:
    page = open_page("leaderboard", run=runs[0].id, form="radar")
    table = page.dataframe[0].value
    assert len(table) == 4 * 3
    assert set(table["Model"]) == set(MODELS)
    assert "Hallucination (claims)\u00a0↓" in set(table["Metric"])


def test_a_radar_of_two_metrics_says_what_it_needs(runs: list[Run], open_page: Open) -> None:
    page = open_page("leaderboard", run=runs[0].id, form="radar", evaluator=["faithfulness", "context_recall"])
    assert page.info[0].value.startswith("A radar needs 3 metrics with a range and a better end; the sidebar leaves 2")


def test_bars_show_three_metrics_and_the_models_that_lead(runs: list[Run], open_page: Open) -> None:
    page = open_page("leaderboard", run=runs[0].id, form="bars")
    assert len(page.get("plotly_chart")) == 3
    many = open_page("leaderboard", run=runs[1].id, form="bars")
    assert "The 12 models that lead, of 20. Choose which in the sidebar." in captions(many)
    chosen = open_page("leaderboard", run=runs[1].id, form="bars", shown=["m1", "m2"])
    assert "The 2 models that you chose, of 20." in captions(chosen)
    boxes = [{box.label: box.placeholder for box in drawn.sidebar.multiselect} for drawn in (page, many)]
    assert [drawn[f"Models in the chart ({n})"] for drawn, n in zip(boxes, (3, 20), strict=True)] == [
        "All", "The first 12",
    ]  # fmt: skip


@pytest.mark.parametrize("drawn", ["boxes", "spread"])
def test_spreads_have_quartiles(runs: list[Run], open_page: Open, drawn: str) -> None:
    page = open_page("leaderboard", run=runs[0].id, form=drawn, key="faithfulness/faithfulness")
    table = page.dataframe[0].value
    assert set(table["Model"]) == set(MODELS)
    assert table["n"].tolist() == ["12"] * 3
    assert len(page.get("plotly_chart")) == 1


def test_quality_against_cost_marks_the_front(runs: list[Run], open_page: Open) -> None:
    page = open_page("leaderboard", run=runs[0].id, form="tradeoff", against="duration_s")
    table = page.dataframe[0].value
    assert table["front"].iloc[0] == "★"
    assert table["mean"].str.strip("\u2007\u2008").iloc[0] == "1.00"
    costs = open_page("leaderboard", run=runs[0].id, form="tradeoff").dataframe[0].value["mean"]
    assert costs.tolist() == ["$10.00", "$20.00", "$30.00"]  # per 1,000 cases
    without = open_page("leaderboard", run=runs[1].id, form="tradeoff")
    assert without.info[0].value.startswith("A trade-off needs a metric with a better end, and another one or what the")


def test_a_metric_against_another_says_who_is_dominated(place: Path, open_page: Open) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_WORKSPACE", str(place.parent / "dominated"))
        given = {"good": [float(n % 10 > 0) for n in range(60)], "bad": [float(n % 10 > 6) for n in range(60)]}
        run = scored_run({"text_matching.passes": given, "hallucination_claims.hallucination_claims": {
            "good": [0.1] * 60, "bad": [0.2] * 60}})  # fmt: skip
        page = open_page("leaderboard", run=run.id, form="tradeoff", key="text_matching/passes")
        assert any(text.value.endswith("on the Pareto front; bad is dominated by good.") for text in page.text)
        table = page.dataframe[0].value
        assert table["front"].tolist() == ["★", "●"]
        assert table["by"].tolist() == ["", "good"]


FAITHFUL, RECALL = "faithfulness/faithfulness", "context_recall/context_recall"


def test_weights_are_set_by_the_user_and_kept_in_the_address(runs: list[Run], open_page: Open) -> None:
    page = open_page("leaderboard", run=runs[0].id, form="weights")
    assert any("there is no score before you do" in text.value for text in page.text)
    assert not [frame for frame in page.dataframe if "score" in frame.value]
    boxes = {box.label: box for box in page.number_input}
    assert all(box.value is None for box in boxes.values()), "nothing is preset"
    boxes["Faithfulness ↑"].set_value(7.0).run()
    {box.label: box for box in page.number_input}["Context recall ↑"].set_value(3.0).run()
    assert page.query_params["weight"] == [f"{FAITHFUL}:7", f"{RECALL}:3"]
    assert any(text.value.startswith("With Faithfulness 0.7 and Context recall 0.3, ") for text in page.text)
    scores, parts = (frame.value for frame in page.dataframe[:2])
    assert set(scores["model"]) == set(MODELS)
    assert scores["score"].tolist() == sorted(scores["score"], reverse=True)
    assert parts["weight"].tolist() == ["0.7", "0.3"]
    assert "First in all possible weightings" in captions(page)


def test_an_open_range_needs_a_scale(runs: list[Run], open_page: Open) -> None:
    weights = [f"{FAITHFUL}:1", "duration_s:1"]
    page = open_page("leaderboard", run=runs[0].id, form="weights", weight=weights)
    assert page.info[0].value.startswith("Latency ↓: the range has no end")
    ends = {box.label: box for box in page.number_input if box.label in ("Worst, s", "Best, s")}
    ends["Worst, s"].set_value(4.0).run()
    {box.label: box for box in page.number_input}["Best, s"].set_value(0.0).run()
    assert page.query_params["scale"] == "duration_s:4:0"
    assert any("Latency 0.5 (4 s worst, 0 s best)" in text.value for text in page.text)


@pytest.fixture
def suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Two runs of two suites: `one` in the first, `two` in both, `three` in the second."""
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    made = []
    for name, models in (("Hard", {"one": 0.3, "two": 0.2}), ("Easy", {"two": 0.8, "three": 0.7})):
        given = {model: [mean + n % 5 / 50 for n in range(40)] for model, mean in models.items()}
        questions = [f"{name} {n}?" for n in range(40)]
        run = scored_run({"faithfulness.faithfulness": given}, design={"question": questions})
        write_json(
            run.folder / "spec.json",
            run.spec.stored | {"name": name, "suite": run.spec.stored["suite"] | {"name": name}},
        )
        made.append(Run(run.folder))
    return made


def test_suites_stand_beside_each_other(suites, open_page, went, monkeypatch):
    page = open_page("leaderboard", run=suites[0].id, form="suites")
    assert any(text.value.startswith("Over 2 suites in Faithfulness, no model is ranked: ") for text in page.text)
    table = page.dataframe[0].value
    assert table["model"].tolist() == ["one", "two", "three"], "as two is in both"
    assert table["s0"].tolist()[2] == "not evaluated"
    assert table["mean"].tolist()[0] == "–"
    assert float(table["mean"].tolist()[1].split()[0]) == pytest.approx(0.54, abs=0.001)
    assert {box.label: box.placeholder for box in page.sidebar.multiselect}["Runs beside this one (1)"] == (
        "Newest of each suite"
    )
    monkeypatch.setattr("components.views.results.suites_view.cell_of", lambda *_, **__: (2, "s1"))
    open_page("leaderboard", run=suites[0].id, form="suites")
    about = {"run": suites[1].id, "model": "three", "evaluator": "faithfulness", "metric": "faithfulness"}
    assert went == [{"page": "cases", **about}]


def test_one_suite_teaches(runs: list[Run], open_page: Open) -> None:
    page = open_page("leaderboard", run=runs[0].id, form="suites", key="faithfulness/faithfulness")
    assert page.info[0].value.startswith("No finished run of another suite has this evaluator and one of these models.")


def test_a_weighted_score_opens_its_cases(runs, open_page, went, monkeypatch):
    monkeypatch.setattr("components.views.results.weighted_view.draw_columns", lambda *_, **__: 0)
    open_page("leaderboard", run=runs[0].id, form="weights", weight=[f"{FAITHFUL}:7", f"{RECALL}:3"])
    (to, *_) = went
    assert (to["page"], to["evaluator"], to["run"]) == ("cases", "faithfulness", runs[0].id)
    assert to["model"] in MODELS


def test_metrics_of_a_whole_data_set_have_no_boxes(runs, open_page, monkeypatch):
    monkeypatch.setattr("components.data.run_reads.metrics_by_case", lambda run: set())
    page = open_page("leaderboard", run=runs[0].id, form="boxes")
    assert page.info[0].value.startswith("None of these metrics has a value per case")


def test_a_bin_lists_its_cases(runs: list[Run], open_page: Open) -> None:
    about = {"evaluator": "faithfulness", "metric": "faithfulness", "model": "sharp"}
    page = open_page("cases", run=runs[0].id, value_min="0.2", value_max="0.35", **about)
    values = [float(case["value"]) for case in told(page, "case_list")["cases"]]
    assert values
    assert all(0.2 <= value < 0.35 for value in values)
    assert "Only cases with a value of at least 0.2 and less than 0.35." in [text.value for text in page.text]


def test_failing_cases_only(runs: list[Run], open_page: Open) -> None:
    about = {"evaluator": "faithfulness", "metric": "faithfulness", "model": "sharp"}
    page = open_page("cases", run=runs[0].id, failing="1", **about)
    assert all(float(case["value"]) < 0.75 for case in told(page, "case_list")["cases"])
    assert page.sidebar.toggle[0].value is True


def test_head_to_head_ranks_by_matches_and_leads_to_a_pair(runs: list[Run], open_page: Open) -> None:
    """Equal scores of a case are a tie, and so are those within the difference that is asked for."""
    page = open_page("leaderboard", run=runs[0].id, form="matches")
    assert "Score against the average model, a tie counting half." in captions(page)
    assert any(text.value.startswith("By matches in ") for text in page.text)
    standings, pairs = (frame.value for frame in page.dataframe[:2])
    assert set(standings["Model"]) == set(MODELS)
    assert standings["Score"].tolist() == sorted(standings["Score"], reverse=True)
    assert len(pairs) == 3
    assert all(sum(map(int, row.split(" / "))) == 12 for row in pairs["Wins / losses / ties"])
    page.number_input[0].set_value(1.0).run()
    assert page.query_params["tie"] == "1"
    assert page.dataframe[1].value["Wins / losses / ties"].tolist() == ["0 / 0 / 12"] * 3
    assert any("no model is significantly stronger" in text.value for text in page.text)


def test_the_noise_by_source_with_a_plan(place: Path, runs: list[Run], open_page: Open) -> None:
    """A run without repeats says how to learn more; with them the shares, and a wanted width changes the plan."""
    page = open_page("leaderboard", run=runs[0].id, form="noise")
    assert "let the model answer 20 cases three times" in captions(page)
    table = page.dataframe[0].value
    assert list(table.columns[:3]) == ["model", "now", "twice cases"]
    run = noisy_run(Workspace(place), cost=0.002)
    page = open_page("leaderboard", run=run.id, form="noise")
    assert any("of the noise is between cases" in text.value for text in page.text)
    table = page.dataframe[0].value
    assert set(table.columns) >= {"cases", "repeats", "twice repeats", "plan", "cost"}
    assert all(cost.startswith("$") for cost in table["cost"])
    page.number_input[0].set_value(0.01).run()
    assert page.query_params["width"] == "0.01"
    assert page.dataframe[0].value["plan"].tolist() != table["plan"].tolist()
    (button,) = [button for button in page.button if "answers vary most" in button.label]
    assert button is not None
    (button,) = [button for button in page.button if button.label == "Plan another suite"]
    assert button is not None
    cases = open_page("cases", run=run.id, evaluator="rouge", metric="rougeL", model="moody", order="varied")
    rows = told(cases, "case_list")["cases"]
    first = [float(row["value"]) for row in rows if row["id"] == rows[0]["id"]]
    last = [float(row["value"]) for row in rows if row["id"] == rows[-1]["id"]]
    assert max(first) - min(first) > max(last) - min(last)
