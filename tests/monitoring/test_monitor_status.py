"""The status: of counts, of metrics, of the latest window."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from metrics.core.errors import InputError
from metrics.core.registry import choose
from metrics.monitoring.monitor_status import (
    OVERALL,
    Health,
    Limits,
    Mean,
    Recent,
    health,
    judged_metrics,
    passed_in_all,
)
from metrics.monitoring.monitor_store import SAMPLES, SCORES
from metrics.monitoring.windows import Window, time_of

MIXED = choose(["rubric", "pii_leakage"])
KEY = ("pii_leakage", "passes")
METRIC = MIXED["pii_leakage"][0].metric("passes")


@pytest.mark.parametrize(
    ("passed", "judged", "expected"),
    [
        (69, 100, Health.CRITICAL), (70, 100, Health.WARNING), (84, 100, Health.WARNING), (85, 100, Health.HEALTHY),
        (100, 100, Health.HEALTHY), (0, 100, Health.CRITICAL), (14, 20, Health.WARNING), (17, 20, Health.HEALTHY),
        (19, 19, Health.INSUFFICIENT_DATA), (0, 0, Health.INSUFFICIENT_DATA),
    ],
)  # fmt: skip
def test_of_a_pass_rate(passed: int, judged: int, expected: Health) -> None:
    """The worked numbers: .69 critical, .70 and .84 warning, .85 healthy; fewer than 20 say too little."""
    assert health(passed, judged) is expected


def test_the_minimum_can_be_chosen_but_never_nothing() -> None:
    assert health(1, 1, Limits(minimum=1)) is Health.HEALTHY
    assert health(0, 0, Limits(minimum=0)) is Health.INSUFFICIENT_DATA


def test_the_pass_rates_can_be_chosen() -> None:
    limits = Limits(warning=0.95, critical=0.9)
    assert [health(passed, 100, limits).value for passed in (89, 90, 94, 95)] == [
        "critical", "warning", "warning", "healthy",
    ]  # fmt: skip


def test_a_mean_has_students_interval() -> None:
    """Scores .2, .4, .6, .8, 1: mean .6, s = .3162, t = 2.776 with 4 degrees of freedom, half = 2.776 · .3162 / √5."""
    rubric = MIXED["rubric"][0].metric("rubric")
    assert Mean.of(0.6, 0.31623, 5, rubric) == pytest.approx((0.6, 0.2074, 0.9926), abs=2e-3)
    assert Mean.of(0.9, 0.31623, 5, rubric).high == 1.0
    assert Mean.of(0.6, None, 1, rubric) == (0.6, None, None)
    assert Mean.of(0.8, 0.4, 10, METRIC) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4), "a share has Wilson's"
    assert Mean.of(None, None, 0, rubric) == (None, None, None)


def row(evaluator: str, metric: str, status: str, passed: bool | None) -> dict[str, object]:
    return {"evaluator": evaluator, "metric": metric, "status": status, "passed": passed}


RUBRIC, PII = ("rubric", "rubric"), KEY


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([row(*RUBRIC, "ok", True), row(*PII, "ok", True)], True, id="all pass"),
        pytest.param([row(*RUBRIC, "ok", True), row(*PII, "ok", False)], False, id="one fails"),
        pytest.param([row(*RUBRIC, "not_applicable", None), row(*PII, "ok", True)], True, id="what does not apply"),
        pytest.param([row(*RUBRIC, "not_applicable", None)], None, id="nothing applies"),
        pytest.param([row(*RUBRIC, "skipped", None), row(*PII, "ok", True)], None, id="the judge was down"),
        pytest.param([row(*RUBRIC, "error", None), row(*PII, "ok", False)], None, id="an error beside a failure"),
        pytest.param(
            [row(*RUBRIC, "ok", True), row("rubric", "completeness", "ok", False)], True, id="others are not primary"
        ),
    ],
)
def test_a_case_passes_by_every_primary_metric_that_applies(rows: list[dict[str, object]], expected: bool) -> None:
    assert passed_in_all(MIXED, rows) is expected


def test_metrics_with_a_good_side_are_judged() -> None:
    assert list(judged_metrics(MIXED)) == [("rubric", "rubric"), ("rubric", "passed"), KEY]
    assert judged_metrics(choose(["no_answer"])) == {}
    assert judged_metrics(choose(["rubric"], {"rubric": {"threshold": 0.9}}))[RUBRIC][1] == 0.9


def fed(window: str, verdicts: list[bool | None], minimum: int = 20, every: timedelta = timedelta(minutes=1)) -> Recent:
    recent = Recent({KEY: METRIC}, Window.parse(window), Limits(minimum))
    begin = datetime(2026, 11, 1)
    for number, passed in enumerate(verdicts):
        samples = [{"number": number, "at": begin + number * every, "passed": passed}]
        scores = [{"number": number, "evaluator": KEY[0], "metric": KEY[1], "passed": passed,
                   "value": passed if passed is None else float(passed)}]  # fmt: skip
        recent.add(pa.Table.from_pylist(samples, schema=SAMPLES), pa.Table.from_pylist(scores, schema=SCORES))
    return recent


def test_only_the_latest_cases_count() -> None:
    overall, metric = fed("20", [False] * 30 + [True] * 17 + [False] * 3).standings()
    assert (overall.passed, overall.judged, overall.health) == (17, 20, Health.HEALTHY)
    assert (metric.evaluator, metric.metric, metric.rate) == (*KEY, 0.85)
    assert (metric.mean, metric.mean_low, metric.mean_high) == (0.85, overall.low, overall.high)
    assert overall.mean is None
    assert (overall.evaluator, overall.metric) == OVERALL
    assert (round(overall.low or 0, 4), round(overall.high or 0, 4)) == (0.6396, 0.9476)


def test_only_the_latest_time_counts() -> None:
    overall = fed("30m", [False] * 50 + [True] * 30).standings()[0]
    assert (overall.passed, overall.judged) == (30, 30)


def test_the_unscored_are_counted_and_may_leave_too_little() -> None:
    overall = fed("100", [True] * 19 + [None] * 81).standings()[0]
    assert (overall.judged, overall.unscored, overall.health) == (19, 81, Health.INSUFFICIENT_DATA)


@pytest.mark.parametrize(
    ("text", "cases", "seconds"),
    [("100", 100, None), ("90s", None, 90), ("30m", None, 1800), ("1h", None, 3600), ("7d", None, 604_800)],
)
def test_windows(text: str, cases: int | None, seconds: int | None) -> None:
    window = Window.parse(text)
    assert (window.cases, window.seconds) == (cases, seconds)
    assert Window.parse(str(window)) == window


def test_a_window_of_time_is_named_by_its_largest_unit() -> None:
    assert (str(Window.parse("60m")), Window.parse("60m").words) == ("1h", "1 h")
    assert Window.parse("1000").words == "1,000 sampled cases"


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
