"""Imported by a script beside it."""

NAME = "helper"
