"""The executor of an aclnn call: a graph of L0 nodes, planned in phase 1, run at synchronise.

Source: hicann/opbase src/nnopbase/composite_op/aclnn_engine/op_executor.cpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from host.contexts import TensorDesc
from host.datatypes import Format
from host.errors import AclnnError, InferShapeError, RegistrationError
from host.graph_text import graph_text
from host.infershape import infer
from host.op_def import soc_key
from host.registry import arch_of, has_infershape, op_def
from host.status import Aclnn
from host.tensor import Tensor
from host.tiling import run_tiling
from host.workspace import Lifetime, place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.datatypes import DataType
    from host.runtime import Runtime
    from host.tiling import TilingResult
    from simulator.run import Run


@dataclass(frozen=True)
class Binary:
    """Choice of a kernel among those of one operator.

    Attributes
    ----------
    interface : str
        Entry to launch; the one of the definition when empty.
    strict : bool, optional
        False reproduces what a board does silently instead of refusing it; the launch's own
        default when omitted.
    """

    interface: str = ""
    strict: bool | None = None


DEFAULT_BINARY: Final = Binary()


@dataclass(eq=False)
class Node:
    """One L0 step. Without a ``tiling`` it needs no kernel, and ``note`` says why.

    ``binary`` says which kernel is launched, and how.
    """

    op_type: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    tiling: TilingResult | None
    note: str = ""
    binary: Binary = DEFAULT_BINARY


class AclOpExecutor:
    """What phase 1 of an aclnn call hands to phase 2.

    Attributes
    ----------
    nodes : list of Node
        Steps in order of execution.
    workspace_size : int
        Bytes that phase 2 needs: intermediates by lifetime, then the largest kernel workspace.
    kernel_workspace : int
        The latter part.
    runs : list of Run
        One per launched kernel, filled when the stream is synchronised.
    repeatable : bool
        Whether it stays valid after a run (``acl.set_acl_op_executor_repeatable``).
    checks_workspace_size : bool
        Whether phase 2 refuses a workspace that is too small.
    dense_inputs : tuple of Tensor
        Tensors that phase 2 refuses unless their view is dense.
    """

    def __init__(self, runtime: Runtime, api: str, tensors: Sequence[Tensor]) -> None:
        self.runtime = runtime
        self.api = api
        self.tensors = tuple(tensors)
        self.nodes: list[Node] = []
        self.runs: list[Run] = []
        self.workspace_size = 0
        self.kernel_workspace = 0
        self.repeatable = False
        self.consumed = False
        self.checks_workspace_size = False
        self.dense_inputs: tuple[Tensor, ...] = ()
        self._intermediates: list[Tensor] = []
        self._roots: dict[int, Tensor] = {}
        self._redirected: dict[int, Tensor] = {}
        self._offsets: dict[int, int] = {}

    # -- building blocks -----------------------------------------------------------------------

    def AllocTensor(
        self,
        shape: Sequence[int],
        dtype: DataType,
        format: Format = Format.ND,
    ) -> Tensor:
        """Return a dense intermediate tensor that will live in the workspace."""
        tensor = Tensor(shape, dtype, format=format, name=f"%{len(self._intermediates)}")
        self._intermediates.append(tensor)
        return tensor

    def CreateView(self, tensor: Tensor, shape: Sequence[int]) -> Tensor:
        """Return a dense view of a dense tensor's memory with another shape."""
        view = Tensor(
            shape, tensor.dtype, format=tensor.format, data=tensor.first_byte, name=tensor.name
        )
        self._roots[id(view)] = self.root(tensor)
        return view

    def redirect(self, tensor: Tensor, target: Tensor) -> bool:
        """Let an intermediate live in ``target``'s memory instead of the workspace.

        Returns False, changing nothing, when ``tensor`` is not an intermediate of this executor.
        """
        root = self.root(tensor)
        if not self.is_intermediate(root) or id(root) in self._redirected:
            return False
        self._redirected[id(root)] = target
        return True

    def launch(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        attrs: Mapping[str, Any] | None = None,
        *,
        binary: Binary = DEFAULT_BINARY,
    ) -> None:
        """Add an AICore launch (``ADD_TO_LAUNCHER_LIST_AICORE``) and compute its tiling.

        Raises
        ------
        AclnnError
            561003 if the operator is not registered for the SoC, 561002 if its tiling fails.
        """
        info = self.runtime.platform_info
        definition = op_def(op_type)
        soc = soc_key(info.short_soc_version)
        if soc not in definition.ai_core:
            raise AclnnError(
                f"{op_type} is not registered for {info.short_soc_version}",
                status=Aclnn.INNER_FIND_KERNEL_ERROR,
                got=soc,
                legal=", ".join(definition.ai_core),
            )
        try:
            arch = arch_of(info.npu_arch)
            plan = run_tiling(op_type, arch, info, _descs(inputs), _descs(outputs), attrs)
        except RegistrationError as error:
            raise AclnnError(
                error.message, status=Aclnn.INNER_FIND_KERNEL_ERROR, **error.fields
            ) from error
        self._compare_with_inferred(op_type, inputs, outputs, attrs)
        self.nodes.append(Node(op_type, tuple(inputs), tuple(outputs), plan, binary=binary))

    def _compare_with_inferred(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        attrs: Mapping[str, Any] | None,
    ) -> None:
        """Report outputs of another shape than graph mode would give them; aclnn does not look."""
        if not has_infershape(op_type):
            return
        shapes = [tensor.view_shape for tensor in inputs]
        try:
            inferred = infer(op_type, shapes, [tensor.dtype for tensor in inputs], attrs)
        except InferShapeError as error:
            self.runtime.note("infer.shape", error.message, api=op_type)
            return
        for tensor, (shape, _) in zip(outputs, inferred, strict=True):
            if tensor.view_shape != shape:
                self.runtime.note(
                    "infer.shape",
                    f"output {tensor.name or 'without a name'} of {op_type} has the shape "
                    f"{list(tensor.view_shape)}, and its infershape function gives {list(shape)}",
                    api=op_type,
                    tensor=tensor.name,
                    fix=f"create the output with the shape {list(shape)}, or mend the infershape "
                    "function",
                )

    def skip(
        self, op_type: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor], note: str
    ) -> None:
        """Add a step that needs no kernel."""
        self.nodes.append(Node(op_type, tuple(inputs), tuple(outputs), None, note))

    # -- planning ------------------------------------------------------------------------------

    def plan(self) -> None:
        """Place the intermediates and add up the workspace."""
        kernels = [node for node in self.nodes if node.tiling is not None]
        placed: list[Tensor] = []
        lifetimes: list[Lifetime] = []
        index_of: dict[int, int] = {}
        for tensor in self._intermediates:
            uses = [k for k, node in enumerate(kernels) if self._uses(node, tensor)]
            if not uses or id(tensor) in self._redirected:
                continue
            writer = kernels[uses[0]]
            read = [index_of[id(r)] for t in writer.inputs if id(r := self.root(t)) in index_of]
            index_of[id(tensor)] = len(placed)
            placed.append(tensor)
            lifetimes.append(Lifetime(tensor.nbytes, uses[0], uses[-1], tuple(read)))
        offsets, pool = place(lifetimes)
        self._offsets = {id(t): at for t, at in zip(placed, offsets, strict=True)}
        self.kernel_workspace = max(
            (node.tiling.workspace_bytes for node in kernels if node.tiling is not None), default=0
        )
        self.workspace_size = pool + self.kernel_workspace

    def renew(self, tensors: Sequence[Tensor]) -> bool:
        """Prepare a planned executor for another run, on other tensors of the same description.

        Returns False, changing nothing, when the plan holds views of the old tensors' memory.
        """
        if self._roots:
            return False
        other = {id(old): new for old, new in zip(self.tensors, tensors, strict=True)}

        def now(group: Sequence[Tensor]) -> tuple[Tensor, ...]:
            return tuple(other.get(id(tensor), tensor) for tensor in group)

        for node in self.nodes:
            node.inputs, node.outputs = now(node.inputs), now(node.outputs)
        self._redirected = {
            key: other.get(id(target), target) for key, target in self._redirected.items()
        }
        self.tensors = tuple(tensors)
        self.dense_inputs = now(self.dense_inputs)
        self.runs = []
        self.consumed = False
        return True

    def root(self, tensor: Tensor) -> Tensor:
        """The tensor whose memory a view made by ``CreateView`` shares."""
        return self._roots.get(id(tensor), tensor)

    def is_intermediate(self, tensor: Tensor) -> bool:
        """Whether the executor allocated the tensor."""
        return any(t is tensor for t in self._intermediates)

    def home(self, tensor: Tensor) -> Tensor | int:
        """Where a tensor lives: a tensor of the caller, or a byte offset in the workspace."""
        root = self.root(tensor)
        if id(root) in self._redirected:
            return self._redirected[id(root)]
        return self._offsets.get(id(root), root)

    def _uses(self, node: Node, tensor: Tensor) -> bool:
        return any(self.root(t) is tensor for t in (*node.inputs, *node.outputs))

    def graph(self) -> str:
        """Return the graph as text: nodes, shapes, workspace places, launch settings."""
        return graph_text(self)

    def __repr__(self) -> str:
        return f"<executor of {self.api}: {len(self.nodes)} nodes, workspace {self.workspace_size}>"


def _descs(tensors: Sequence[Tensor]) -> list[TensorDesc | None]:
    return [TensorDesc(t.view_shape, t.dtype, t.format, t.strides, t.offset) for t in tensors]
