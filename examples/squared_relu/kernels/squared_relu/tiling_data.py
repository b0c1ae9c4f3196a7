"""The struct that host tiling fills and the kernel reads."""

from kernels.tiling_struct import Int, TilingData


class SquaredReluTilingData(TilingData):
    """Elements in all, per block and per tile."""

    totalLength = Int("int64_t")
    blockLength = Int("int64_t")
    tileLength = Int("int64_t")
