"""What pages have loaded stays out of the garbage collection that Streamlit does after every script: it never ends."""

import gc
import sys
from functools import cache


def keep_loaded() -> None:
    """Take what is loaded out of the collection, whenever there are new modules: 180,000 objects, .1 s a click."""
    _freeze(len(sys.modules))


@cache
def _freeze(modules: int) -> None:  # noqa: ARG001 - once for each number of modules
    gc.collect()
    gc.freeze()
