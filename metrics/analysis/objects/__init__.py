"""Which objects are behind a number? Matches, geometry, images."""
