"""Which thresholds are in force: those that labels set for the models that an evaluator uses."""
