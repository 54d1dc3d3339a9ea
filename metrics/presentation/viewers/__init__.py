"""The viewers that a browser draws, for the studio and for bundles: scripts and styles, and the data that they draw."""
