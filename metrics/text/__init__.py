"""Text as data: sentences, citations, conditions, JSON, languages, numbers. No input or output, no state."""
