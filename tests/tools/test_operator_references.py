"""The numpy references of MaxPoolingGrad and HardSwish backward at the values that decide."""

from __future__ import annotations

import numpy as np

from tools.references import hardswish_backward, hardswish_backward_v2, max_pooling_grad


def test_the_two_versions_of_hardswish_differ_at_the_ends_of_the_line_only():
    x = np.array([-3, 3, np.nextafter(np.float32(-3), 0), 2, -4, 4, np.nan], np.float32)
    grad = np.full_like(x, 2)
    (first,), (second,) = hardswish_backward(grad, x), hardswish_backward_v2(grad, x)
    np.testing.assert_array_equal(first[:2], [-1, 3])
    np.testing.assert_array_equal(second[:2], [0, 2])
    np.testing.assert_array_equal(first[2:], second[2:])


def test_max_pooling_passes_the_gradient_bit_by_bit_where_the_inputs_are_equal():
    x = np.array([1, 0, np.inf, np.nan, 2], np.float32)
    y = np.array([1, -0.0, np.inf, np.nan, 3], np.float32)
    dy = np.array([-0.0, np.nan, np.inf, 5, 6], np.float32)
    (dx,) = max_pooling_grad(dy, x, y)
    np.testing.assert_array_equal(dx, [-0.0, np.nan, np.inf, 0, 0])
    np.testing.assert_array_equal(np.signbit(dx), [True, np.signbit(np.nan), False, False, False])
