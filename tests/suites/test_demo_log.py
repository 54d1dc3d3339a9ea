"""The bundled week of production."""

import json
from datetime import UTC, datetime, timedelta

from metrics.core.registry import choose
from metrics.suites.demo_data import DAILY, DAYS, EVALUATORS, RELEASE_DAY, RELEASED, STEADY, demo_lines

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def test_it_is_a_week_that_needs_neither_a_judge_nor_a_model():
    rows = [json.loads(line) for line in demo_lines(NOW)]
    assert len(rows) == len({row["id"] for row in rows}) == DAYS * DAILY
    times = [datetime.fromisoformat(row["timestamp"]) for row in rows]
    assert times == sorted(times)
    assert (times[0], NOW - times[-1] < timedelta(hours=1)) == (NOW - timedelta(days=DAYS), True)
    assert [row["model"] for row in rows] == [STEADY] * RELEASE_DAY * DAILY + [RELEASED] * (DAYS - RELEASE_DAY) * DAILY
    assert all(row["question"] and row["answer"] for row in rows)
    assert all(not entry.needs for entry, _ in choose(list(EVALUATORS), {}).values())
