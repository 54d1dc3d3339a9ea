"""Which of two answers people or a judge prefer: matches, position bias, agreement, what to compare next."""
