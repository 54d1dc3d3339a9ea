"""Boxes, masks, matching and precision–recall curves on arrays. No input or output, no state."""
