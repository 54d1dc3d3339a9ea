"""Evaluators of detected objects: boxes with a label and a score, over a whole data set."""
