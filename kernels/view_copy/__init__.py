"""ViewCopy: dense data written to a strided view."""
