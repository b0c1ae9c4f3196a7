"""Finding the device code of an operator: file, entry and architecture.

A kernel is the function ``<opInterface>`` in ``kernels/<opFile>/kernel_<npu arch>.py``, as CANN
looks a binary up by SoC and operator type. ``OpDef.kernel_package`` replaces ``kernels``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from host.errors import AclnnError, RegistrationError
from host.status import Aclnn
from simulator.dtypes import as_dtype
from simulator.launch import Kernel

if TYPE_CHECKING:
    from host.executor import Node
    from host.op_def import OpDef
    from host.platform_ascendc import PlatformInfo


def module_name(definition: OpDef, soc: str, npu_arch: str) -> str:
    """Name of the module that holds the kernel of an operator on one SoC."""
    return f"{definition.kernel_package}.{definition.op_file(soc)}.kernel_{npu_arch}"


def find_kernel(definition: OpDef, soc: str, platform: PlatformInfo) -> Kernel:
    """Return the kernel of an operator for a platform.

    Raises
    ------
    AclnnError
        561003 if there is no such module or no such entry in it.
    """
    name = module_name(definition, soc, platform.npu_arch)
    entry = definition.op_interface(soc)
    package = name.rpartition(".")[0]
    module = None
    if find_spec(package) is not None and find_spec(name) is not None:
        module = import_module(name)
    kernel = getattr(module, entry, None)
    if not isinstance(kernel, Kernel):
        raise AclnnError(
            f"there is no kernel of {definition.op_type} for {soc}",
            status=Aclnn.INNER_FIND_KERNEL_ERROR,
            got=platform.soc_version or platform.npu_arch,
            legal=f"a kernel {entry} in {name}",
        )
    return kernel


def specialise(kernel: Kernel, node: Node) -> Kernel:
    """Bind a kernel's template parameters for one node, as its compilation would.

    ``DTYPE`` is the data type of the first input, ``TILING_KEY`` the key that tiling chose.

    Raises
    ------
    RegistrationError
        If the kernel has any other template parameter.
    """
    if not kernel.template:
        return kernel
    known: dict[str, Any] = {
        "DTYPE": as_dtype(node.inputs[0].dtype.numpy),
        "TILING_KEY": 0 if node.tiling is None else node.tiling.key,
    }
    unknown = [name for name in kernel.template if name not in known]
    if unknown:
        raise RegistrationError(
            f"the host cannot choose template parameter {unknown[0]} of {kernel.name}",
            legal=", ".join(known),
        )
    return kernel.specialise(*(known[name] for name in kernel.template))
