"""How one thing is shown: a text case, an image, a trace, a heatmap; those drawn in the browser have their script."""
