"""An executor's graph as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from host.executor import AclOpExecutor, Node
    from host.tensor import Tensor


def graph_text(executor: AclOpExecutor) -> str:
    """Return one line per node and, under a launch, its settings and tiling data."""
    lines = [
        f"{executor.api} on {executor.runtime.platform_info.soc_version}",
        f"workspace {executor.workspace_size} B, of which kernels {executor.kernel_workspace} B",
    ]
    for index, node in enumerate(executor.nodes):
        lines += _node_lines(executor, index, node)
    if not executor.nodes:
        lines.append("no task")
    return "\n".join(lines)


def _node_lines(executor: AclOpExecutor, index: int, node: Node) -> list[str]:
    sources = ", ".join(_tensor_text(executor, t) for t in node.inputs)
    targets = ", ".join(_tensor_text(executor, t) for t in node.outputs)
    head = f"#{index} {node.op_type}({sources}) -> {targets}"
    if node.tiling is None:
        return [head, f"     no launch: {node.note}"]
    plan = node.tiling
    entry = f", kernel {node.binary.interface}" if node.binary.interface else ""
    return [
        head,
        f"     block dim {plan.block_dim}, key {plan.key}, workspace {list(plan.workspace)}{entry}",
        f"     {plan.data!r}",
    ]


def _tensor_text(executor: AclOpExecutor, tensor: Tensor) -> str:
    text = f"{tensor.name or 'tensor'} {list(tensor.view_shape)} {tensor.dtype.name}"
    if not tensor.is_contiguous:
        text += f" strides {list(tensor.strides)}"
    if tensor.offset:
        text += f" offset {tensor.offset}"
    home = executor.home(tensor)
    if isinstance(home, int):
        text += f" @workspace+{home}"
    elif executor.is_intermediate(executor.root(tensor)) and home is not executor.root(tensor):
        text += f" in {home.name or 'the output'}"
    return text
