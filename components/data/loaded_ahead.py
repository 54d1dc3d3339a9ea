"""What the next clicks need, loaded while somebody looks at what the last one brought."""

from importlib import import_module
from threading import Timer

import streamlit as st

REST = 1.5  # seconds after which somebody is taken to look; what the browser loads ahead waits as long


@st.cache_resource(show_spinner=False)
def load_matching() -> Timer:
    """Load what matches objects at other thresholds and what orders a confusion matrix, once in a server's life.

    It happens in the background: .7 s of processor time that the first change of a threshold would wait for.
    """
    timer = Timer(REST, _load_matching)
    timer.daemon = True  # a server that stops does not wait for it
    timer.start()
    return timer


def _load_matching() -> None:
    from metrics.vision.warm_up import warm_up

    import_module("scipy.cluster.hierarchy")
    warm_up(0)
