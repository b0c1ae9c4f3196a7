"""``hardswish_backward`` on numpy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from host.hard_swish_grad.api import (
    aclnn_hardswish_backward,
    aclnn_hardswish_backward_get_workspace_size,
)
from host.op_call import OpResult, call_operator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.platforms import Platform


class HardswishBackward:
    """The call as an object: ``hardswish_backward(...)``, or ``.run(...)`` for the runs."""

    def __call__(
        self,
        grad_output: NDArray[Any],
        self_: NDArray[Any],
        *,
        platform: str | Platform = "910b",
    ) -> NDArray[Any]:
        """Out = grad_output * d(self_): d = 0 below, 1 above, self / 3 + 0.5 on [-3, 3].

        Parameters
        ----------
        grad_output, self_ : numpy.ndarray
            float32, float16 or ml_dtypes.bfloat16 of one dtype and shape, rank at most 8. Strides
            are passed on; an array with negative strides is copied first.
        platform : str or Platform
            Device to simulate.

        Returns
        -------
        numpy.ndarray
            Fresh, of the inputs' shape and dtype.

        Raises
        ------
        AclnnError
            161002 (``status``), naming the ``argument`` that does not fit.
        """
        return self.run(grad_output, self_, platform=platform).outputs[0]

    def run(
        self,
        grad_output: NDArray[Any],
        self_: NDArray[Any],
        *,
        platform: str | Platform = "910b",
    ) -> OpResult:
        """Like the call, but return the outputs together with the executor and its runs."""
        return call_operator(
            aclnn_hardswish_backward_get_workspace_size,
            aclnn_hardswish_backward,
            {"gradOutput": grad_output, "self": self_},
            {"out": (self_.shape, self_.dtype)},
            platform,
        )


hardswish_backward: Final = HardswishBackward()
