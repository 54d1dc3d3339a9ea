"""The cases behind a number: pages of cases, one case in full, outcomes at a threshold."""
