"""Parts of the pages about the judge: its settings, its calls, its cache, prompts, and human labels beside it."""
