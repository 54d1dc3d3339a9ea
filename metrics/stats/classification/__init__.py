"""Statistics of predicted labels and label scores: confusion counts, ROC, calibration, ranked precision."""
