"""``prelu_backward`` on numpy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from host.op_call import OpResult, call_operator
from host.prelu_backward.api import (
    aclnn_prelu_backward,
    aclnn_prelu_backward_get_workspace_size,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from host.prelu_backward.api import Strict
    from simulator.platforms import Platform


class PreluBackward:
    """The call as an object: ``prelu_backward(...)``, or ``.run(...)`` for the runs."""

    def __call__(
        self,
        grad_output: NDArray[Any],
        self_: NDArray[Any],
        weight: NDArray[Any],
        *,
        platform: str | Platform = "910b",
        strict: Strict = "source",
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """grad_input = self_ > 0 ? grad_output : w * grad_output; grad_weight = its sum for w.

        Parameters
        ----------
        grad_output : numpy.ndarray
            float32, float16 or ml_dtypes.bfloat16, rank at most 8; broadcasts to self_'s shape.
        self_ : numpy.ndarray
            Same dtype; the channel is axis 1. Strides of all inputs are passed on; an array with
            negative strides is copied first.
        weight : numpy.ndarray
            Same dtype, one element or one per channel.
        platform : str or Platform
            Device to simulate. On 910B and 910_93 the kernels are this simulator's own, because
            those of the device are not public.
        strict : str
            ``"source"`` or ``"doc"``; decides about weights of several axes, where they disagree.

        Returns
        -------
        tuple of numpy.ndarray
            grad_input of self_'s shape, and grad_weight: [channels] for several weights (with
            ``strict="doc"`` weight's shape), weight's shape for one. Of an empty input nothing is
            computed: grad_weight keeps the zeros that it is allocated with here, where a program on
            a device finds whatever its memory held.

        Raises
        ------
        AclnnError
            161002 (``status``), naming the ``argument`` that does not fit.
        """
        outputs = self.run(grad_output, self_, weight, platform=platform, strict=strict).outputs
        return outputs[0], outputs[1]

    def run(
        self,
        grad_output: NDArray[Any],
        self_: NDArray[Any],
        weight: NDArray[Any],
        *,
        platform: str | Platform = "910b",
        strict: Strict = "source",
    ) -> OpResult:
        """Like the call, but return the outputs together with the executor and its runs."""
        channels = self_.shape[1] if self_.ndim > 1 else 1
        follows_weight = weight.size == 1 or strict == "doc"
        return call_operator(
            aclnn_prelu_backward_get_workspace_size,
            aclnn_prelu_backward,
            {"gradOutput": grad_output, "self": self_, "weight": weight},
            {
                "gradInput": (self_.shape, self_.dtype),
                "gradWeight": (weight.shape if follows_weight else (channels,), self_.dtype),
            },
            platform,
            strict=strict,
        )


prelu_backward: Final = PreluBackward()
