"""Pure arithmetic on arrays and strings: no input or output, no state, nothing of the rest of the library."""
