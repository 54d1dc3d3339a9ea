"""The status: of counts, of metrics, of the latest window."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from metrics.core.errors import InputError
from metrics.core.registry import choose
from metrics.monitoring.evidence import Evidence
from metrics.monitoring.health import Health, Limits
from metrics.monitoring.monitor_status import OVERALL, Judged, Mean, Recent, Standing, judged_metrics, passed_in_all
from metrics.monitoring.monitor_store import SAMPLES, SCORES
from metrics.monitoring.windows import Window, time_of

MIXED = choose(["rubric", "pii_leakage"])
KEY = ("pii_leakage", "passes")
METRIC = MIXED["pii_leakage"][0].metric("passes")


def test_a_mean_has_students_interval() -> None:
    """Scores .2, .4, .6, .8, 1: mean .6, s = .3162, t = 2.776 with 4 degrees of freedom, half = 2.776 · .3162 / √5."""
    rubric = MIXED["rubric"][0].metric("rubric")
    assert Mean.of(0.6, 0.31623, 5, rubric) == pytest.approx((0.6, 0.2074, 0.9926), abs=2e-3)
    assert (Mean.of(0.9, 0.31623, 5, rubric).high, Mean.of(0.6, 0.0, 1, rubric)) == (1.0, (0.6, None, None))
    assert Mean.of(0.8, 0.42164, 10, METRIC) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4), "a share has Wilson's"
    assert Mean.of(None, 0.0, 0, rubric) == (None, None, None)


def test_the_interval_of_a_mean_takes_sessions_as_units() -> None:
    """Ten sessions of ten equal scores, 8 of them 1: .8 as of 10 single ones, not of 100."""
    totals, lines = np.repeat([10.0, 0.0], [8, 2]), np.full(10, 10)
    assert Mean.of_units(totals, lines, METRIC) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4)
    rubric = MIXED["rubric"][0].metric("rubric")
    single = Mean.of_units(np.array([0.2, 0.4, 0.6, 0.8, 1.0]), np.ones(5, np.int64), rubric)
    assert single == pytest.approx((0.6, 0.2074, 0.9926), abs=2e-3)
    assert Mean.of_units(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.full(5, 5), rubric) == pytest.approx(single)


def row(evaluator: str, metric: str, status: str, passed: bool | None) -> dict[str, object]:
    return {"evaluator": evaluator, "metric": metric, "status": status, "passed": passed}


RUBRIC, PII = ("rubric", "rubric"), KEY


@pytest.mark.parametrize(("rows", "expected"), [
    pytest.param([row(*RUBRIC, "ok", True), row(*PII, "ok", True)], True, id="all pass"),
    pytest.param([row(*RUBRIC, "ok", True), row(*PII, "ok", False)], False, id="one fails"),
    pytest.param([row(*RUBRIC, "not_applicable", None), row(*PII, "ok", True)], True, id="what does not apply"),
    pytest.param([row(*RUBRIC, "not_applicable", None)], None, id="nothing applies"),
    pytest.param([row(*RUBRIC, "skipped", None), row(*PII, "ok", True)], None, id="the judge was down"),
    pytest.param([row(*RUBRIC, "error", None), row(*PII, "ok", False)], None, id="an error beside a failure"),
    pytest.param(
        [row(*RUBRIC, "ok", True), row("rubric", "completeness", "ok", False)], True, id="others are not primary"
    ),
])  # fmt: skip
def test_a_case_passes_by_every_primary_metric_that_applies(rows: list[dict[str, object]], expected: bool) -> None:
    assert passed_in_all(MIXED, rows) is expected


def test_metrics_with_a_good_side_are_judged() -> None:
    assert list(judged_metrics(MIXED)) == [("rubric", "rubric"), ("rubric", "passed"), KEY]
    assert judged_metrics(choose(["no_answer"])) == {}
    assert judged_metrics(choose(["rubric"], {"rubric": {"threshold": 0.9}}))[RUBRIC][1] == 0.9


def fed(window: str, verdicts: list[bool | None], every: timedelta = timedelta(minutes=1)) -> list[Standing]:
    recent = Recent({KEY: METRIC}, Window.parse(window))
    evidence = Evidence(recent.keys, Limits())
    begin = datetime(2026, 11, 1)
    for number, passed in enumerate(verdicts):
        samples = [{"number": number, "at": begin + number * every, "passed": passed}]
        scores = [{"number": number, "evaluator": KEY[0], "metric": KEY[1], "passed": passed,
                   "value": passed if passed is None else float(passed)}]  # fmt: skip
        tables = (pa.Table.from_pylist(samples, schema=SAMPLES), pa.Table.from_pylist(scores, schema=SCORES))
        judged = Judged.of(recent.keys, *tables)
        recent.add(judged)
        evidence.add(judged)
    return recent.standings(evidence.rates)


def test_counts_and_means_are_of_the_latest_cases_the_pass_rate_is_of_all() -> None:
    overall, metric = fed("20", [True] * 30 + [True] * 17 + [False] * 3)
    assert (overall.passed, overall.judged, overall.since, overall.units) == (17, 20, 0, 50)
    assert (metric.evaluator, metric.metric, metric.rate) == (*KEY, 0.94)
    assert (metric.mean, metric.mean_low, metric.mean_high) == pytest.approx((0.85, 0.6396, 0.9476), abs=1e-4)
    assert overall.mean is None
    assert (overall.evaluator, overall.metric) == OVERALL
    assert (overall.low, overall.high) == (metric.low, metric.high)


def test_only_the_latest_time_counts() -> None:
    overall = fed("30m", [False] * 50 + [True] * 30)[0]
    assert (overall.passed, overall.judged) == (30, 30)


def test_the_unscored_are_counted_and_may_leave_too_little() -> None:
    overall = fed("100", [False] * 19 + [None] * 81)[0]
    assert (overall.judged, overall.unscored, overall.health) == (19, 81, Health.INSUFFICIENT_DATA)
    assert fed("100", [False] * 20 + [None] * 80)[0].health is Health.CRITICAL


@pytest.mark.parametrize(
    ("text", "cases", "seconds"),
    [("100", 100, None), ("90s", None, 90), ("30m", None, 1800), ("1h", None, 3600), ("7d", None, 604_800)],
)
def test_windows(text: str, cases: int | None, seconds: int | None) -> None:
    window = Window.parse(text)
    assert (window.cases, window.seconds, Window.parse(str(window))) == (cases, seconds, window)


@pytest.mark.parametrize("text", ["", "0", "-5", "1w", "h", "1.5h", "100 cases"])
def test_no_window(text: str) -> None:
    with pytest.raises(InputError) as caught:
        Window.parse(text)
    assert str(caught.value) == (
        f"--window: found {text!r}; expected a number of sampled cases such as 100, or a time such as 30m, 1h or 7d"
    )


def test_which_window() -> None:
    assert [Window.parse("10").of(number, None) for number in (0, 9, 10, 25)] == [0, 0, 1, 2]
    at = datetime(2026, 11, 1, 10, 59, 59, tzinfo=UTC).timestamp()
    window = Window.parse("1h")
    assert window.begins(window.of(3, at)) == datetime(2026, 11, 1, 10, tzinfo=UTC)


NOON = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-21T12:00:00Z", NOON), ("2026-11-21 12:00:00", NOON), ("2026-11-21T13:00:00+01:00", NOON),
        (NOON, NOON), (int(NOON * 1e3), NOON), (int(NOON * 1e6), NOON), (int(NOON * 1e9), NOON), (str(NOON), NOON),
        ("yesterday", None), (None, None), (True, None), (-5, None), (0, None), (1e300, None), (float("inf"), None),
        ("nan", None), ([NOON], None), ("0001-01-01T00:00:00+23:59", None), ("9999-12-31T23:59:59Z", None),
        (10**400, None), ("9" * 400, None),
    ],
)  # fmt: skip
def test_times(value: object, expected: float | None) -> None:
    assert time_of(value) == (None if expected is None else pytest.approx(expected, abs=1e-3))
