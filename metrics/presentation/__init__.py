"""How results are shown, the same in pages, reports and the terminal: numbers, phrases, colours, chart data."""
