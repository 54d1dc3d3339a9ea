"""The types that all rooms share: suites, outputs, cases, evaluators, scores, errors. Imports no other room."""
