"""Measured pairs that differ in one thing: what changed, and in which rows it shows."""

from __future__ import annotations

from typing import Final, NamedTuple


class Pair(NamedTuple):
    """Rows before and after one change."""

    change: str
    before: str
    after: str


PAIRS: Final = (
    Pair("vector call instead of a scalar loop (910B)", "V001", "V002"),
    Pair("48 cores instead of one (910B)", "V002", "V003"),
    Pair("larger tiles (910B)", "V003", "V004"),
    Pair("double buffering (910B)", "V004", "V005"),
    Pair("inputs bypass L2 (910B)", "V005", "V006"),
    Pair("operands in different bank groups (910B)", "V006", "V007"),
    Pair("64 cores instead of one (950)", "V009", "V010"),
    Pair("larger tiles (950)", "V010", "V011"),
    Pair("double buffering and bypass (950)", "V011", "V013"),
    Pair("sources in one bank group (910B)", "V014", "V016"),
    Pair("sources in one bank (910B)", "V014", "V015"),
    Pair("bursts of 2048 instead of 128 B (910B)", "V036", "V037"),
    Pair("rows that are not aligned (910B)", "V037", "V038"),
    Pair("reuse from L2 by slices (910B)", "V039", "V040"),
    Pair("cores on different addresses (910B)", "V041", "V042"),
    Pair("tiles of 64 rows instead of one (950)", "V043", "V044"),
    Pair("bursts of 2048 instead of 128 B (950)", "V044", "V045"),
    Pair("rows that are not aligned (950)", "V045", "V046"),
    Pair("reuse from L2 by slices (950)", "V047", "V048"),
    Pair("cores on different addresses (950)", "V049", "V050"),
    Pair("8 cores instead of one (910B4)", "V068", "V069"),
    Pair("TPipe outside the class (910B4)", "V074", "V075"),
    Pair("reuse from L2 by slices, C interface (950)", "V078", "V079"),
    Pair("gamma fetched once (950)", "V080", "V081"),
    Pair("64 cores instead of one (950), RmsNorm", "V081", "V082"),
    Pair("pairwise sums before the reduction (910B)", "V102", "V101"),
)
