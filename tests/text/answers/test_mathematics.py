r"""The same mathematics, written in two ways, and different mathematics."""

import pytest

from metrics.text.answers.forms import same_json
from metrics.text.answers.mathematics import brackets_of, same_mathematics


@pytest.mark.parametrize(("made", "wanted"), [
    ("(2, 4)", "(2,4)"), ("[2, 5)", "[2,5)"), ("0.5", r"\frac{1}{2}"), ("11 + 9a", "9a+11"), ("1000", "1,000"),
    (r"1/\sqrt{3}", r"\frac{\sqrt{3}}{3}"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    (r"\{1,2\}", r"\left\{2, 1\right\}"), (r"\dfrac12", "0.5"), (r"90^\circ", "90"), ("90°", r"90^{\circ}"),
    (r"5\text{ cm}", "5 cm"), ("5 cm", "5"), ("x = 5", "5"), ("5", "x=5"), (r"2\sqrt 3", r"\sqrt{12}"),
    (r"\sqrt{9}", "3"),
    (r"(-\infty, 2)\cup(3,\infty)", r"(3, \infty) \cup (-\infty,2)"), ("x^2+2x+1", "(x+1)^2"), ("3 > x", "x < 3"),
    (r"1\frac{1}{2}", r"\frac{3}{2}"), (r"\frac{\pi}{2}", "π/2"), ("10^{20}+1", "100000000000000000001"), ("3!", "6"),
    (r"\sin^2 x + \cos^2 x", "1"), (r"-\frac{1}{2}", r"\frac{-1}{2}"), (r"\log_{2} 8", "3"), (r"50\%", "50"),
    (r"\$1,000", "1000"), ("12{,}345", "12345"), (r"\text{Yes}", r"\text{yes}"), (r"e^{i\pi}", "-1"),
    (r"\pm 2", r"\{-2, 2\}"), (r"\frac{x}{2}", r"\frac12x"), (r"\emptyset", r"\{\}"), ("|-3|", "3"),
    ("y=1+2x", "2x+1=y"),
])  # fmt: skip
def test_the_same(made: str, wanted: str) -> None:
    assert same_mathematics(made, wanted)
    assert same_mathematics(wanted, made)


@pytest.mark.parametrize(("made", "wanted"), [
    (r"\{1,2\}", "(1,2)"), ("[0,1)", "[0,1]"), ("(0,1)", "[0,1]"), ("(1,2)", "(2,1)"), ("0.333333", r"\frac13"),
    ("5 cm", "5 m"), ("10^{20}+1", "10^{20}"), ("x", "y"), ("2x", "x^2"), ("10^{1000000}", "1"), ("9^{9^{9^9}}", "1"),
    ("x<3", "x>3"), (r"x \le 3", "x < 3"), ("", "1"), ("-5", "5"), ("1/0", "2/0"), ("(1,2)", "1.2"), ("y=2", "x=2"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1&2\end{pmatrix}"), (r"\{1,2\}", r"\{1,2,3\}"),
    ("{" * 399, "1"),
    (r"\frac{1}{2", r"\frac{1}{2"), ("200!!!", "1"), ("1" * 401, "1" * 401),
])  # fmt: skip
def test_not_the_same(made: str, wanted: str) -> None:
    assert not same_mathematics(made, wanted)
    assert not same_mathematics(wanted, made)


@pytest.mark.parametrize(("text", "brackets"), [
    ("[0, 1)", "[)"), (r"$\left(-\infty, 2\right]$.", "(]"), (r"\{1, 2\}", "{}"), ("(x, y)", "()"),
    ("(Paris, France)", ""), ("(1)", ""), ("1, 2", ""), ("f(1, 2)", ""),
])  # fmt: skip
def test_brackets_around_numbers(text: str, brackets: str) -> None:
    assert brackets_of(text) == brackets


@pytest.mark.parametrize(("made", "wanted", "same"), [
    ('{"b": 1.0, "a": [1, 2]}', '{"a":[1,2],"b":1}', True), ('{"a": [1, 2]}', '{"a": [2, 1]}', False),
    ('```json\n{"a": "é"}\n```', '{"a": "e\u0301"}', True), ('{"a": 1}', '{"a": "1"}', False), ("1", "1", False),
    ('{"a": 1', '{"a": 1}', False), ('{"a": true}', '{"a": 1}', False),
    ('[{"b": 2, "a": 1}]', '[{"a": 1, "b": 2}]', True),
    ('{"a": 1, "b": null}', '{"a": 1}', False),
])  # fmt: skip
def test_the_same_json(made: str, wanted: str, same: bool) -> None:
    assert same_json(made, wanted) is same
