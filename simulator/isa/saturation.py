"""The saturation switches of the CTRL register that change results.

``numeric_mode`` holds the switches that change results. Source: mirror-cann/asc-devkit
docs/zh/api/SIMD-API/基础API/特殊寄存器访问/SetCtrlSpr(ISASI).md and 附录 (special value tables).
"""

from __future__ import annotations

from typing import Final

SATURATE_FLOAT: Final = 1
"""CTRL[48] = 0: half and bfloat16_t results clamp instead of becoming infinite or NaN."""

SATURATE_INT: Final = 2
"""CTRL[53] = 1 (950): integer arithmetic clamps instead of wrapping."""

TRUNCATE_CAST: Final = 4
"""CTRL[59] = 1 (950): a Cast to integers keeps the low bits instead of clamping."""

KEEP_FP8_NAN: Final = 8
"""CTRL[50] = 1 (950): NaN stays NaN in a saturating Cast to an fp8 type."""
