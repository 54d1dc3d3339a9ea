"""Parts of the pages that set up a run: evaluators, judge, local models; suites and their edits."""
