"""Operators as functions on numpy arrays; each also has ``.run`` for executor and runs."""

from __future__ import annotations

from host.hard_swish_grad.call import hardswish_backward
from host.hard_swish_grad_v2.call import hardswish_backward_v2
from host.max_pooling_grad.call import max_pooling_grad
from host.op_call import OpResult
from host.prelu_backward.call import prelu_backward

__all__ = [
    "OpResult",
    "hardswish_backward",
    "hardswish_backward_v2",
    "max_pooling_grad",
    "prelu_backward",
]
