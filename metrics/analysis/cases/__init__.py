"""Which cases are behind a number? Pages of cases, one case in full, outcomes at a threshold."""
