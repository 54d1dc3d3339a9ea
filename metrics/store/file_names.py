"""Names of the files in a workspace: what a sealed run consists of, and the mark of a local copy."""

import re

REMOTE = "remote.json"  # in a workspace that is the local copy of one at a URL: which
RUN_FILES = ("spec.json", "manifest.json", "progress.json", "judge.json")
SUITE_FILES = ("suite.json", "cases.parquet", "annotations.parquet")
OUTPUTS_FILES = ("outputs.json", "targets.json", "outputs.parquet", "predictions.parquet")
INPUTS = tuple(  # the tables of suite and outputs
    f"{kind}/{name}"
    for kind, names in (("suite", SUITE_FILES), ("outputs", OUTPUTS_FILES))
    for name in names
    if name.endswith(".parquet")
)
MEDIA, ARTIFACTS = "suite/media/", "outputs/artifacts/"
NAMES = "|".join(  # a pattern of every name; the part of a name that is not ours is a plain file name
    (
        rf"run/(?:{'|'.join(map(re.escape, RUN_FILES))})",
        r"run/tables/[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)?\.parquet",
        rf"suite/(?:{'|'.join(map(re.escape, SUITE_FILES))})",
        rf"outputs/(?:{'|'.join(map(re.escape, OUTPUTS_FILES))})",
        r"suite/media/[A-Za-z0-9_-][A-Za-z0-9_.-]*",
        r"outputs/artifacts/[0-9a-f]{32}",
    )
)
