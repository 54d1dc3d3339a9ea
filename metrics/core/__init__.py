"""What everything speaks of: suites, outputs, cases, evaluators, scores, errors. It imports nothing of the rest."""
