"""Neighbouring lines that resemble each other: said, with what helps; not of independent ones or named sessions."""

from pathlib import Path

import numpy as np
import pytest

from metrics.monitoring import feed, serial_dependence
from metrics.presentation.monitor_words import dependence_words
from tests.monitoring.monitor_scenes import begun, line, write

LINES, SESSION = 100, 5


@pytest.mark.parametrize(("alike", "named", "said"), [(True, False, True), (False, False, False), (True, True, False)])
def test_lines_of_sessions_without_a_name(
    alike: bool, named: bool, said: bool, workspace: Path, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    passes = np.repeat(rng.random(LINES // SESSION) < 0.7, SESSION) if alike else rng.random(LINES) < 0.7
    more = [{"session": f"s-{index // SESSION}"} if named else {} for index in range(LINES)]
    log = write(tmp_path / "log.jsonl", (line(k, bool(passes[k]), **more[k]) for k in range(LINES)))
    monitor = begun(workspace)
    assert serial_dependence(monitor) is None, "nothing is known before the first line"
    feed(monitor, log)
    found = serial_dependence(monitor)
    assert (found is not None) == said
    if found is not None:
        assert found.correlation > 0.5
        assert found.stretch > 1.7
        words = dependence_words(found)
        assert words.startswith("Neighbouring answers resemble each other (correlation 0.")
        assert words.endswith("Name the field of the conversation with --session.")
        assert "a wider unit" in dependence_words(found._replace(sessions=True))
