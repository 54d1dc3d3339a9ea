"""Evaluators of semantic segmentation: the label of every pixel, over a whole data set."""
