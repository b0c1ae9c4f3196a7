"""Published figures of the vector instructions, run through real kernels on the simulator."""
