"""``max_pooling_grad`` on numpy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from host.max_pooling_grad.api import (
    aclnn_max_pooling_grad,
    aclnn_max_pooling_grad_get_workspace_size,
)
from host.op_call import OpResult, call_operator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from host.max_pooling_grad.api import Strict, Variant
    from simulator.platforms import Platform


class MaxPoolingGrad:
    """The call as an object: ``max_pooling_grad(...)``, or ``.run(...)`` for the runs."""

    def __call__(
        self,
        dy: NDArray[Any],
        x: NDArray[Any],
        y: NDArray[Any],
        *,
        platform: str | Platform = "910b",
        strict: Strict = "source",
        variant: Variant = "fixed",
    ) -> NDArray[Any]:
        """Dx = dy where x equals y, else 0.

        NaN equals nothing and +0 equals -0; dy is copied bit for bit.

        Parameters
        ----------
        dy, x, y : numpy.ndarray
            float32 or float16 of one dtype and shape.
        platform : str or Platform
            Device to simulate; the operator exists on 910B only.
        strict : str
            ``"source"``: strided arrays are refused, and shapes are not compared, so that an x or
            y smaller than dy is read past its end. ``"doc"``: strided arrays are copied, and shapes
            must be equal, of rank 1 to 8.
        variant : str
            ``"fixed"``, or the kernel as published, ``"source"``, with its two faults: the elements
            behind the last whole 32 bytes are not written (they are 0 here), and equal infinities
            give 0.

        Returns
        -------
        numpy.ndarray
            Fresh, of dy's shape and dtype.

        Raises
        ------
        AclnnError
            With ``status`` and the ``argument`` that does not fit: 161002 for a dtype, 561003 for
            the platform, 561000 for strides.
        AclError
            507044 when the kernel reads past the end of x or y.
        """
        return self.run(dy, x, y, platform=platform, strict=strict, variant=variant).outputs[0]

    def run(
        self,
        dy: NDArray[Any],
        x: NDArray[Any],
        y: NDArray[Any],
        *,
        platform: str | Platform = "910b",
        strict: Strict = "source",
        variant: Variant = "fixed",
    ) -> OpResult:
        """Like the call, but return the outputs together with the executor and its runs."""
        return call_operator(
            aclnn_max_pooling_grad_get_workspace_size,
            aclnn_max_pooling_grad,
            {"dy": dy, "x": x, "y": y},
            {"dx": (dy.shape, dy.dtype)},
            platform,
            strict=strict,
            variant=variant,
        )


max_pooling_grad: Final = MaxPoolingGrad()
