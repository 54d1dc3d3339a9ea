"""What a suite contains."""

from metrics.suites import complexity_distribution, tag_counts, values_of, with_originals
from tests.suites.suite_scenes import suite


def test_counts():
    assert complexity_distribution(suite()) == {"medium": 3, "complex": 1, "simple": 1}
    assert complexity_distribution(suite([{"case_id": "x"}])) == {"medium": 1}
    assert tag_counts(suite()) == {"fees": 3, "easy": 2, "copy": 1, "loans": 1}
    assert values_of(suite(), 2) == {"perturbation": {"copy": 1}, "area": {"desk": 2, "hall": 1}}


def test_a_variant_brings_its_original_and_its_originals_original():
    rows = [{"case_id": "a"}, {"case_id": "b", "perturbs": "a"}, {"case_id": "c", "perturbs": "b"}, {"case_id": "d"}]
    assert sorted(with_originals(suite(rows), ["c", "d"])) == ["a", "b", "c", "d"]
    assert with_originals(suite(rows), ["a"]) == ["a"]
    assert with_originals(suite([{"case_id": "b", "perturbs": "gone"}]), ["b"]) == ["b"]
