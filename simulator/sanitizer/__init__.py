"""Checks of a run: what would go wrong on a board although program order hides it."""
