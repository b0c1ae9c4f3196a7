"""Contiguous: a strided view made dense."""
