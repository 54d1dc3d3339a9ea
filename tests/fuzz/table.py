"""The table of targets: every one is run by the tests, and by `python -m tests.fuzz`."""

from tests.fuzz import file_targets, reader_targets, text_targets
from tests.fuzz.target import CORPUS, Input, Target

TARGETS: dict[str, Target] = {
    target.name: target for part in (reader_targets, text_targets, file_targets) for target in part.TARGETS
}


def corpus(name: str) -> list[Input]:
    return [Input.kept(file) for file in sorted((CORPUS / name).glob("*")) if file.is_file()]
