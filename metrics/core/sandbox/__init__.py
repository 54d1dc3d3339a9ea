"""A process of its own for what nobody vouches for: code that a model wrote, and its SQL."""
