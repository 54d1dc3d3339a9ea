"""Short answers: one form for equal ones, and what a whole answer may be: a quantity, a date, a choice."""
