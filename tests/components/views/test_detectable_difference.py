"""What the suite could reveal, in words."""

import pytest

from components.views.results.detectable_difference import sentence, wish


@pytest.mark.parametrize(
    ("power", "expected"),
    [
        pytest.param({"cases": 300, "units": 300, "detectable": 0.0412}, "With these 300 cases a true", id="cases"),
        pytest.param(
            {"cases": 300, "units": 40, "detectable": 0.0412}, "With these 300 cases in 40 groups a true", id="groups"
        ),
    ],
)
def test_sentence(power: dict, expected: str) -> None:
    text = sentence(power, "ROUGE: rougeL")
    assert text.startswith(expected)
    assert text.endswith(
        "difference of 0.041 or more between two models in ROUGE: rougeL would be seen in 8 of 10 repetitions."
    )


@pytest.mark.parametrize(("detectable", "expected"), [(0.0412, 0.02), (0.9, 0.5), (37.0, 20.0), (3e-4, 1e-4)])
def test_a_wish_to_begin_with(detectable: float, expected: float) -> None:
    assert wish({"detectable": detectable}) == pytest.approx(expected, rel=0.35)
