"""Exceptions of the host side; each carries the status code that the C call would return."""

from __future__ import annotations

from typing import Any, ClassVar

from host.status import Aclnn, status_name
from simulator.errors import HostError


class StatusError(HostError):
    """A host call failed with a status code.

    Parameters
    ----------
    message : str
        One sentence: which argument, what it has, what is wrong.
    status : int
        Code that the C call returns.
    argument : str, optional
        Name of the argument at fault, in the C function's spelling.
    **fields
        As for every simulator error: ``api``, ``got``, ``legal``, ``fix``, ``source``.
    """

    def __init__(
        self, message: str, *, status: int, argument: str | None = None, **fields: Any
    ) -> None:
        super().__init__(
            message,
            status=int(status),
            status_name=status_name(status),
            argument=argument,
            **fields,
        )
        self.status = int(status)
        self.status_name = status_name(status)
        self.argument = argument

    def __str__(self) -> str:
        return f"{super().__str__()}\n  status: {self.status} {self.status_name}"


class AclnnError(StatusError):
    """An aclnn call failed."""

    code: ClassVar[str] = "host.aclnn"


class AclError(StatusError):
    """An acl or aclrt call failed."""

    code: ClassVar[str] = "host.acl"


class TilingError(AclnnError):
    """A tiling function failed or set too little (561002 at the API)."""

    code: ClassVar[str] = "host.tiling"

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message, status=Aclnn.INNER_TILING_ERROR, **fields)


class InferShapeError(AclnnError):
    """An infershape function returned GRAPH_FAILED (561001 where an API calls it)."""

    code: ClassVar[str] = "host.infershape"

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message, status=Aclnn.INNER_INFERSHAPE_ERROR, **fields)


class RegistrationError(HostError):
    """An operator, infershape or tiling is registered twice, inconsistently or not at all."""

    code: ClassVar[str] = "host.registration"


class HostProgramWarning(UserWarning):
    """A fault of the host program that the device would not report, such as a leak."""
