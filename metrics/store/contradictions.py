"""Whether the files of a run that came from elsewhere are those that were sealed."""

import hashlib
from collections.abc import Iterator, Mapping

from metrics.store.input_seals import checked_facts
from metrics.store.manifest import FILE, checked


def contradictions(texts: Mapping[str, str], digests: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield file and fault where what came from elsewhere is not what was sealed; its tables are compared by who reads.

    texts: the JSON files of a run by name; digests: the sha256 of the others. ValueError where one is none.
    """
    seal = checked(texts[f"run/{FILE}"])
    if seal.get("spec") not in (None, hashlib.sha256(texts["run/spec.json"].encode()).hexdigest()):
        yield "run/spec.json", "is not the specification that was sealed"
    for kind in ("suite", "outputs"):
        for file, own in checked_facts(texts[f"{kind}/{kind}.json"]).get("files", {}).items():
            name = f"{kind}/{file}"
            others = seal.get("inputs", {}).get(name, {})  # of a run from another machine: see input_seals
            if digests.get(name) not in (own["sha256"], others.get("sha256")):
                yield name, "is not the table that was stored"
