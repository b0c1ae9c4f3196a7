"""Infershape of HardSwishGrad: the output has gradOutput's shape and data type.

Source: hicann/ops-nn activation/hard_swish_grad/op_host/hard_swish_grad_infershape.cpp.
"""

from __future__ import annotations

from host.hard_swish_grad_v2.infershape import infer_shape
from host.registry import IMPL_OP_INFERSHAPE

IMPL_OP_INFERSHAPE("HardSwishGrad")(infer_shape)
