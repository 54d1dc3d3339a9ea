"""Tests that run code need the sandbox; where the machine has none, they are skipped and say so."""

import pytest

from metrics.core.sandbox.process import why_unavailable

sandboxed = pytest.mark.skipif(bool(why_unavailable()), reason=why_unavailable())
