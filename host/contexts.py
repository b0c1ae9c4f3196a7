"""Contexts that infershape and tiling functions work on, with CANN's method names.

A function returns ``GRAPH_SUCCESS`` or ``GRAPH_FAILED`` and nothing else; ``Fail`` records the
reason that CANN would log and returns the latter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from host.datatypes import DataType, Format
from host.shape import Shape, StorageShape
from host.status import GRAPH_FAILED, GraphStatus
from kernels.tiling_struct import TilingData

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.platform_ascendc import PlatformInfo

_T = TypeVar("_T", bound=TilingData)

MAX_BLOCK_DIM: Final = 65535


@dataclass(frozen=True)
class TensorDesc:
    """What a callback may know of one tensor.

    ``strides`` and ``offset`` are in elements; ``None`` strides mean dense.
    """

    shape: tuple[int, ...]
    dtype: DataType
    format: Format = Format.ND
    strides: tuple[int, ...] | None = None
    offset: int = 0
    storage_shape: tuple[int, ...] | None = None

    def GetDataType(self) -> DataType:
        """Element type."""
        return self.dtype

    def GetOriginFormat(self) -> Format:
        """Format label."""
        return self.format

    def GetStorageFormat(self) -> Format:
        """Format label of the storage; the same for all formats handled here."""
        return self.format


class _Context:
    """Common part: node name, attributes, log."""

    def __init__(self, op_type: str, attrs: Mapping[str, Any] | None) -> None:
        self.op_type = op_type
        self.attrs = dict(attrs or {})
        self.messages: list[str] = []

    def GetNodeName(self) -> str:
        """Name of the node, for messages."""
        return self.op_type

    def GetAttr(self, name: str) -> Any:
        """Value of an attribute, or None when it is not given."""
        return self.attrs.get(name)

    def Fail(self, message: str) -> GraphStatus:
        """Record why the function cannot go on and return GRAPH_FAILED."""
        self.messages.append(message)
        return GRAPH_FAILED


class InferShapeContext(_Context):
    """Input shapes to read and output shapes to write in place.

    A missing input or output is ``None``.
    """

    def __init__(
        self,
        op_type: str,
        inputs: Sequence[Sequence[int] | None],
        output_count: int,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(op_type, attrs)
        self.inputs = [None if dims is None else Shape(dims) for dims in inputs]
        self.outputs = [Shape() for _ in range(output_count)]

    def GetInputShape(self, index: int) -> Shape | None:
        """Shape of an input; ``None`` when it is missing."""
        return self.inputs[index] if index < len(self.inputs) else None

    def GetOutputShape(self, index: int) -> Shape | None:
        """Shape of an output, to be changed in place."""
        return self.outputs[index] if index < len(self.outputs) else None


class InferDataTypeContext(_Context):
    """Input data types to read and output data types to set."""

    def __init__(
        self,
        op_type: str,
        inputs: Sequence[DataType],
        output_count: int,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(op_type, attrs)
        self.inputs = list(inputs)
        self.outputs: list[DataType | None] = [None] * output_count

    @property
    def output_count(self) -> int:
        """Number of outputs."""
        return len(self.outputs)

    def GetInputDataType(self, index: int) -> DataType:
        """Data type of an input."""
        return self.inputs[index]

    def SetOutputDataType(self, index: int, dtype: DataType) -> None:
        """Set the data type of an output."""
        self.outputs[index] = dtype


class TilingContext(_Context):
    """What a tiling function reads, and what it decides.

    A missing input or output is ``None`` in ``inputs`` and ``outputs``.
    """

    def __init__(
        self,
        op_type: str,
        inputs: Sequence[TensorDesc | None],
        outputs: Sequence[TensorDesc | None],
        platform: PlatformInfo,
        attrs: Mapping[str, Any] | None = None,
        compile_info: Any = None,
    ) -> None:
        super().__init__(op_type, attrs)
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self._platform = platform
        self._compile_info = compile_info
        self.tiling_data: TilingData | None = None
        self.block_dim = 0
        self.tiling_key = 0
        self.workspaces: list[int] = []
        self.schedule_mode = 0

    def GetInputShape(self, index: int) -> StorageShape | None:
        """Shapes of an input; ``None`` when it is missing."""
        return _storage_shape(self.GetInputDesc(index))

    def GetOutputShape(self, index: int) -> StorageShape | None:
        """Shapes of an output; ``None`` when it is missing."""
        return _storage_shape(self.GetOutputDesc(index))

    def GetInputDesc(self, index: int) -> TensorDesc | None:
        """Description of an input; ``None`` when it is missing."""
        return self.inputs[index] if index < len(self.inputs) else None

    def GetOutputDesc(self, index: int) -> TensorDesc | None:
        """Description of an output; ``None`` when it is missing."""
        return self.outputs[index] if index < len(self.outputs) else None

    def GetPlatformInfo(self) -> PlatformInfo:
        """What ``PlatformAscendC`` is made from."""
        return self._platform

    def GetCompileInfo(self) -> Any:
        """What the operator's TilingParse stored."""
        return self._compile_info

    def GetTilingData(self, kind: type[_T]) -> _T:
        """The tiling struct to fill; the same one at every call."""
        if not isinstance(self.tiling_data, kind):
            self.tiling_data = kind()
        return self.tiling_data

    def SetBlockDim(self, count: int) -> GraphStatus:
        """Set the number of kernel instances, 1 to 65535."""
        if not 1 <= count <= MAX_BLOCK_DIM:
            return self.Fail(f"block dim {count} is outside 1..{MAX_BLOCK_DIM}")
        self.block_dim = count
        return GraphStatus.GRAPH_SUCCESS

    def SetTilingKey(self, key: int) -> GraphStatus:
        """Select the kernel variant; 0 if never called."""
        if not 0 <= key < 1 << 64:
            return self.Fail(f"tiling key {key} does not fit uint64")
        self.tiling_key = key
        return GraphStatus.GRAPH_SUCCESS

    def GetTilingKey(self) -> int:
        """The tiling key set so far."""
        return self.tiling_key

    def GetWorkspaceSizes(self, count: int) -> list[int]:
        """Bytes per workspace slot, to be assigned by index."""
        self.workspaces = (self.workspaces + [0] * count)[:count]
        return self.workspaces

    def SetScheduleMode(self, mode: int) -> GraphStatus:
        """Mode 1: all blocks must be resident at once, as cross-block synchronisation needs."""
        self.schedule_mode = mode
        return GraphStatus.GRAPH_SUCCESS


def _storage_shape(desc: TensorDesc | None) -> StorageShape | None:
    return None if desc is None else StorageShape(desc.shape, desc.storage_shape)
