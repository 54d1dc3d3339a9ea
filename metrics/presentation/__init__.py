"""How numbers and words are written, the same in pages, reports and the terminal."""
