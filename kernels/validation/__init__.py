"""Kernels that were measured on hardware, written again, and the table of what was measured."""
