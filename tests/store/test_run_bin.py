"""What people say of runs, and runs that they delete."""

import json

import pytest

from metrics import engine
from metrics.core.errors import InputError, RunBusy, RunNotFound
from metrics.store import Run, Workspace
from metrics.store.run_check import verify
from metrics.suites import samples
from tests.engine.engine_scenes import finished, resealed, text_outputs, text_suite


def rename_as_before(run: Run, name: str) -> Run:
    """The run as an earlier version wrote its specification, with a name in it."""
    spec = json.loads((run.folder / "spec.json").read_text())
    (run.folder / "spec.json").write_text(json.dumps(spec | {"name": name}))
    return resealed(run)


class TestNames:
    @pytest.mark.parametrize(
        ("stored", "name"),
        [("turns: rouge, bleu", "turns · 2 models"), ("turns: rouge", "turns: rouge"), ("Mine", "Mine")],
    )
    def test_of_earlier_versions_are_kept_where_people_gave_them(self, run, stored, name):
        assert rename_as_before(run, stored).name == name

    def test_given_later_stand_beside_the_seal(self, run):
        sealed = (run.folder / "manifest.json").read_bytes()
        run.describe(name=" Before\nthe fix ", tags=("a", " a ", "", "b  c"))
        run.describe(notes="  Two\n lines ")
        assert (run.name, run.about.notes, run.about.tags) == ("Before the fix", "Two\n lines", ("a", "b c"))
        assert (run.folder / "manifest.json").read_bytes() == sealed
        verify(run)
        run.describe(name="")
        assert run.name == "turns · 2 models"

    def test_that_are_too_long_are_refused_together(self, run):
        with pytest.raises(InputError) as failure:
            run.describe(name="n" * 201, tags=("t" * 61,))
        assert [problem.column for problem in failure.value.problems] == ["name", "tags"]
        assert run.name == "turns · 2 models"

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"tags": 3}'])
    def test_that_cannot_be_read_are_as_if_none_were_given(self, run, text):
        (run.folder / "about.json").write_text(text)
        assert (run.name, run.about.tags) == ("turns · 2 models", ())


class TestBin:
    def test_a_deleted_run_comes_back_as_it_was(self, run):
        store, scores, name = Workspace(), run.scores, run.name
        store.delete_run(run.id)
        assert not store.runs()
        assert [(one.id, one.name) for one in store.bin.runs()] == [(run.id, name)]
        with pytest.raises(RunNotFound):
            store.run(run.id)
        back = store.bin.restore(run.id)
        verify(back)
        assert back.scores.equals(scores)
        assert not store.bin.ids()

    def test_the_last_deleted_is_first(self, run):
        other = finished(Workspace(), text_suite(), text_outputs(), "rouge")
        for one in (other, run):
            Workspace().delete_run(one.id)
        assert (Workspace().bin.ids(), Workspace().bin.empty([other.id])) == ([run.id, other.id], 1)
        assert (Workspace().bin.ids(), Workspace().bin.empty()) == ([run.id], 1)

    def test_a_run_that_is_worked_on_stays(self, run):
        waiting = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])
        with waiting.locked(), pytest.raises(RunBusy, match="cancel it before deleting it"):
            Workspace().delete_run(waiting.id)
        assert waiting.folder.exists()

    @pytest.mark.parametrize("name", ["", "..", "../runs", "20260101-000000-abcdef"])
    def test_what_is_not_in_the_bin_is_neither_restored_nor_removed(self, run, name):
        for ask in (Workspace().bin.restore, lambda name: Workspace().bin.empty([name])):
            with pytest.raises(RunNotFound, match="in the bin"):
                ask(name)
        assert run.folder.exists()

    def test_a_deleted_sample_is_not_computed_again(self, workspace, monkeypatch):
        two = samples.samples()[:2]
        monkeypatch.setattr(samples, "samples", lambda: two)
        monkeypatch.setattr(samples, "FIRST", two[0].id)
        store, known = Workspace(), [sample.id for sample in two]
        runs = [finished(store, text_suite(), text_outputs(), "rouge", sample=name) for name in known]
        store.delete_run(runs[0].id)
        assert [sample.id for sample in samples.samples_kept(store)] == known[1:]
        store.bin.empty()
        store.delete_run(runs[1].id)
        assert not samples.start_first(store)
        store.bin.restore(runs[1].id)
        assert [sample.id for sample in samples.samples_kept(store)] == known[1:]
