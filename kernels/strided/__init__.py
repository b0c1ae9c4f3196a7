"""Shared description of strided views for the copy kernels."""
