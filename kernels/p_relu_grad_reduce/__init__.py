"""PReluGradReduce on 910B: this simulator's own implementation.

The device's is not public; this one has the semantics of the published operator of 950, except that
the order of its sum does not depend on the number of cores.
"""
