"""What the values that pass through a run's calls tell: infinities, NaN, rounding, boundaries."""

from simulator.analysis.numbers.finding import find_numbers

__all__ = ["find_numbers"]
