"""Reading uploads: suites, outputs and images of any supported format become validated, typed tables.

    from metrics.ingest import inspect, read_suite, read_outputs

    inspect("suite.csv").mapping                       # {"case_id": "id", "question": "prompt", …}
    suite = read_suite("suite.csv")
    outputs = read_outputs(["a.csv", "b.csv"], suite=suite)

Every reader raises InputError with all problems at once, or with keep_good_rows=True leaves bad rows out; the load_*
functions then also return the problems of these rows. Nothing in a file is ever executed, opened or fetched.
"""

from metrics.ingest.load import (
    combined_from_frame,
    inspect,
    load_combined,
    load_joined,
    load_outputs,
    load_suite,
    outputs_from_frame,
    read_combined,
    read_outputs,
    read_suite,
    suite_from_frame,
    with_images,
)
from metrics.ingest.media.agent_files import attach_files
from metrics.ingest.media.images import Images, read_images
from metrics.ingest.reader import ListCell, Preview
from metrics.ingest.source import Loaded, Reading
from metrics.ingest.tables.columns import Question
