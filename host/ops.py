"""Operators as functions on numpy arrays; each also has ``.run`` for executor and runs."""

from __future__ import annotations

from host.hard_swish_grad_v2.call import hardswish_backward_v2
from host.op_call import OpResult

__all__ = ["OpResult", "hardswish_backward_v2"]
