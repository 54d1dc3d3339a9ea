"""The settings of a suite's board: kept with the suite, refused with every reason, proposed only from a grid."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import InputError
from metrics.store.board_settings import Boards, BoardSettings, Factors, propose_factors

SUITE, OTHER = "a" * 64, "b" * 64
RUN = "20260101-000000-abcdef"
KNOWN = ("gpt | terse", "gpt | long", "llama", f"{RUN}:llama")
WHOLE = BoardSettings(
    {"llama": "Llama 3"}, {"gpt": "GPT", "llama": "Meta"},
    {"gpt | terse": Factors("gpt", "terse"), "gpt | long": Factors("gpt", "long")}, "llama", ("gpt | long",), (RUN,),
)  # fmt: skip


def test_settings_are_kept_by_suite(tmp_path: Path) -> None:
    boards = Boards(tmp_path)
    assert (boards.settings(SUITE), boards.version(SUITE)) == (BoardSettings(), 0)
    assert boards.change(SUITE, lambda _: WHOLE, KNOWN, [RUN]) == Boards(tmp_path).settings(SUITE) == WHOLE
    assert (boards.settings(OTHER), boards.version(OTHER)) == (BoardSettings(), 0)
    assert boards.version(SUITE) > 0


def test_one_message_lists_every_problem_and_nothing_is_stored(tmp_path: Path) -> None:
    boards = Boards(tmp_path)
    wrong = BoardSettings(
        {"gpt | terse": "LLAMA", "gpt | long": "", "lama": "x\u202ey", "llama": "p\u0430ypal"},
        {"nobody": "a\nb"},
        {"gpt | terse": Factors("gpt", "x" * 81), "gpt | long": Factors("gpt", "x" * 81)},
        "llama", ("llama",), ("20260101-000000-abcdee",),
    )  # fmt: skip
    with pytest.raises(InputError) as raised:
        boards.change(SUITE, lambda _: wrong, KNOWN, [RUN])
    message = str(raised.value)
    for told in (
        "'LLAMA' for 'gpt | terse': the name of 'llama'", "an empty text", "did you mean 'llama'", "is not shown",
        "Latin and Cyrillic letters", "'nobody'", "'a\\nb': a character that is not shown", "81 characters",
        "both 'gpt' with", "'llama', which is hidden", f"did you mean '{RUN}'",
    ):  # fmt: skip
        assert told in message
    assert boards.settings(SUITE) == BoardSettings()


@pytest.mark.parametrize("change", [{"baseline": f"{RUN}:llama"}, {"aliases": {"llama": "x", "gpt | long": "X"}}],
    ids=["baseline of an archived run", "two equal aliases"])  # fmt: skip
def test_settings_that_contradict_each_other(change: dict) -> None:
    assert list(replace(WHOLE, **change).problems(KNOWN, [RUN]))


def test_names_with_markup_and_formulas_are_kept_as_they_are(tmp_path: Path) -> None:
    hostile = ('<img src=x onerror="alert(1)">', "[a](javascript:x)", "=1+1", "**b**")
    aliases = dict(zip(KNOWN, hostile, strict=True))
    Boards(tmp_path).change(SUITE, lambda one: replace(one, aliases=aliases), KNOWN)
    assert Boards(tmp_path).settings(SUITE).aliases == aliases


def test_what_was_set_of_an_entry_that_is_gone_may_stay(tmp_path: Path) -> None:
    boards = Boards(tmp_path)
    boards.change(SUITE, lambda _: WHOLE, KNOWN, [RUN])
    made = boards.change(SUITE, lambda one: replace(one, baseline=None), KNOWN[:2])
    assert made == replace(WHOLE, baseline=None)
    with pytest.raises(InputError, match="'new'"):
        boards.change(SUITE, lambda one: replace(one, hidden=(*one.hidden, "new")), KNOWN[:2])


@pytest.mark.parametrize("text", ["{", "[]", '{"aliases": 3}', '{"factors": {"a": ["b"]}}', '{"colour": "red"}'])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "boards" / f"{SUITE}.json"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(InputError, match=f"{SUITE}.json.*remove the file"):
        Boards(tmp_path).settings(SUITE)


@pytest.mark.parametrize("joined", ["{} | {}", "{}_{}", "{}/{}", "{}@{}", "{}|{}"])
def test_a_grid_of_names_is_proposed(joined: str) -> None:
    pairs = [("gpt-4o", "terse"), ("gpt-4o", "v2"), ("llama-3", "terse"), ("llama-3", "v2"), ("qwen", "v2")]
    names = {joined.format(*pair): Factors(*pair) for pair in pairs}
    assert propose_factors([*names, "other", joined.format("gpt-4o", "alone")]) == names


def test_a_separator_within_a_model_or_a_prompt() -> None:
    assert set(propose_factors(["a_1_x", "a_1_y", "b_x", "b_y"]).values()) == {
        Factors("a_1", "x"), Factors("a_1", "y"), Factors("b", "x"), Factors("b", "y"),
    }  # fmt: skip
    assert propose_factors(["a_x_1", "a_y_2", "b_x_1", "b_y_2"])["a_x_1"] == Factors("a", "x_1")


@given(st.lists(st.text("ab|@/_ ", max_size=6)))
def test_what_is_proposed_is_a_grid(names: list[str]) -> None:
    """Law: each proposed prompt has two models that share it and another one; each pair is one name's."""
    found = propose_factors(names)
    assert set(found) <= set(names)
    assert len(set(found.values())) == len(found)
    prompts = {model: {own.prompt for own in found.values() if own.model == model} for model, _ in found.values()}
    for model, prompt in found.values():
        assert model
        assert any(prompt in one & other and len(one & other) > 1 for a, one in prompts.items()
                   for b, other in prompts.items() if a != b)  # fmt: skip


@pytest.mark.parametrize("names", [["a_x", "a_y", "b_x"], ["a", "b"], ["meta/llama", "openai/gpt"], []])
def test_without_a_grid_nothing_is_proposed(names: list[str]) -> None:
    assert propose_factors(names) == {}
