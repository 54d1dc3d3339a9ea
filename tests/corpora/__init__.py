"""Texts with findings planted at known places, and with what merely looks like them: made by us, from a seed."""
