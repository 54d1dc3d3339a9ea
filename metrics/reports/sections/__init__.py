"""The sections of a report: each makes plain data from a run."""
