"""The objects of a detection run: the list that the gallery shows, and one image with its boxes."""
