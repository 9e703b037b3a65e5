"""Coral: polyps, reefs, and the archipelago they form."""
