"""Archives as somebody would forge them: changed inside, with every checksum made to fit again."""

import io
import json
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from metrics.reports.archives import layout
from metrics.store.input_seals import OPEN
from metrics.store.manifest import own_digest
from metrics.store.run_check import ASKED

SEAL, SPEC = "run/manifest.json", "run/spec.json"
FACTS = {"suite": "suite/suite.json", "outputs": "outputs/outputs.json"}
TWICE = "\x00twice"  # at the end of a key: the same key once more


def dump(facts: Any) -> bytes:
    """Return JSON in which keys that end in TWICE stand twice."""
    return json.dumps(facts).replace(json.dumps(TWICE)[1:-1], "").encode()


def entries(packed: bytes) -> dict[str, bytes]:
    """Return the entries of a zip."""
    with zipfile.ZipFile(io.BytesIO(packed)) as file:
        return {name: file.read(name) for name in file.namelist()}


def pack(contents: Mapping[str, bytes]) -> bytes:
    """Return an archive of these entries, with a list that fits them."""
    listed = {
        name: {"bytes": len(content), "sha256": sha256(content).hexdigest()}
        for name, content in contents.items()
        if name != layout.MANIFEST
    }
    own = json.loads(contents[layout.MANIFEST]) | {"files": listed}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in (dict(contents) | {layout.MANIFEST: json.dumps(own).encode()}).items():
            file.writestr(name, content)
    return buffer.getvalue()


def seal_again(contents: Mapping[str, bytes], changed: Mapping[str, Any] | None = None) -> dict[str, bytes]:
    """Return the entries of an archive with `changed` facts, by file, in which every seal fits what is there."""
    made, given = dict(contents), dict(changed or {})
    digests = {name: sha256(content).hexdigest() for name, content in made.items()}
    for kind, name in FACTS.items():
        facts = given.get(name) or json.loads(made[name])
        for file, own in facts["files"].items() if isinstance(facts.get("files"), dict) and name not in given else ():
            own.update(bytes=len(made[f"{kind}/{file}"]), sha256=digests[f"{kind}/{file}"])
        made[name] = dump(facts | ({"sha256": own_digest(facts, OPEN)} if "sha256" in facts else {}))
    if SPEC in given:
        made[SPEC] = dump(given[SPEC])
    seal = given.get(SEAL) or json.loads(made[SEAL])
    if SEAL not in given:
        spec = json.loads(made[SPEC])
        if isinstance(spec, dict):
            asked = {name: spec[name] for name in ASKED if name in spec}
            for kind in ("suite", "outputs"):
                held = asked.get(kind)
                asked[kind] = held.get("fingerprint") if isinstance(held, dict) else held
            seal |= {name: value for name, value in asked.items() if name in seal}
        seal["spec"] = sha256(made[SPEC]).hexdigest()
        for name, own in seal["inputs"].items():
            own.update(bytes=len(made[name]), sha256=digests[name])
        for own in seal["tables"].values():
            own["sha256"] = digests.get(f"run/{own['file']}", own["sha256"])
    made[SEAL] = dump(seal | ({"sha256": own_digest(seal)} if "sha256" in seal else {}))
    return made
