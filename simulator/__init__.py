"""The simulated machine, and the readings of a run."""
