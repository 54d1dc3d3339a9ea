"""Where is a model worse than elsewhere? Parts of a suite, their values, and a search for the bad ones."""
