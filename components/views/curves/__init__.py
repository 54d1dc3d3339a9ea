"""The views of the curves page: each draws one answer for a run and one of its evaluators."""
