"""The state of a prediction at one IoU threshold and area range."""

WRONG, RIGHT, ASIDE = 0, 1, 2  # false positive, true positive, ignored
