"""Files in the formats of CANN's operator profiler, written from a run."""
