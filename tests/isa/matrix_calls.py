"""How each declared instruction is called on simple data, for the test of the whole matrix.

The element-wise families share one adapter each. An instruction of another shape needs an adapter
here: a function of the case, decorated with ``@adapter("Name", ...)``, that makes the call on
``case.t`` (the operands of the declaration by name) in the form ``case.form``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
from harness import Filled

from simulator import ascendc
from simulator.enums import Arch

if TYPE_CHECKING:
    from simulator.dtypes import DType

PLATFORMS = {Arch.DAV_2201: "910b", Arch.DAV_3510: "950"}

COUNT = 256
"""Elements of a count form: whole repeats of every element type."""

SIZE = 2048
"""Elements of each tensor."""

LANES = 16
BLOCK = 32
"""Elements from one block address to the next, aligned for every element type."""
REPEATS = 2

FAMILIES = {}
ADAPTERS = {}
NO_INSTRUCTION = {"Concat"}
"""Calls that only prepare the arguments of a later one."""
IN_GLOBAL_MEMORY = {}
"""Operands of a call that the adapter wants as GlobalTensors."""


@dataclass
class Case:
    """One combination of the matrix; ``t`` holds the tensors while the kernel runs."""

    name: str
    arch: Arch
    dtypes: tuple[DType, ...]
    form: str
    spec: object
    t: SimpleNamespace = field(default_factory=SimpleNamespace)

    @property
    def call(self):
        found = ascendc
        # ``Name@variant`` and ``Name[FORM]`` are further declarations of the same call.
        for part in re.split(r"[@\[]", self.name)[0].split("."):
            found = getattr(found, part)
        return found

    @property
    def tensors(self):
        """Operands in the order of the declaration."""
        return [getattr(self.t, name) for name, _ in self.spec.operands]

    def contents(self):
        """Initial content of the operands: ones, which every call accepts."""
        named = {
            name: ones(dtype)
            for (name, _), dtype in zip(self.spec.operands, self.dtypes, strict=True)
        }
        # Byte offsets of different elements, of different blocks for Gatherb.
        step = 32 if self.name == "Gatherb" else self.dtypes[0].itemsize if self.dtypes else 1
        offsets = np.arange(SIZE, dtype=np.uint32) * np.uint32(step)
        return named | {"offsets": offsets}

    def trailing(self, params):
        """Return what follows the operands of an element-wise call."""
        if self.form == "count":
            return (COUNT,)
        mask = LANES if self.form == "mask" else [0x3333]
        return (mask, REPEATS, params)


def ones(dtype, size=SIZE):
    if dtype.bits < 8:
        return Filled(dtype, np.full(size // 2, 0x11, np.uint8))
    if dtype.name == "complex32":
        return Filled(dtype, np.full(size, 0x3C00, np.uint32))
    if dtype.numpy == np.uint8:
        return Filled(dtype, np.ones(size, np.uint8))
    return Filled(dtype, np.ones(size).astype(dtype.numpy))


def family(*names):
    def register(function):
        FAMILIES.update(dict.fromkeys(names, function))
        return function

    return register


def adapter(*names, gm=()):
    def register(function):
        ADAPTERS.update(dict.fromkeys(names, function))
        IN_GLOBAL_MEMORY.update(dict.fromkeys(names, gm))
        return function

    return register


def adapter_of(case):
    found = ADAPTERS.get(case.name) or FAMILIES.get(case.spec.family)
    assert found is not None, (
        f"{case.name} (family {case.spec.family!r}) is declared, but tests/isa/matrix_calls.py has "
        f'no adapter for it: add a function with @adapter("{case.name}") that calls it'
    )
    return found


def unary_params():
    return ascendc.UnaryRepeatParams()


def binary_params():
    return ascendc.BinaryRepeatParams()


@family("unary")
def unary(case):
    case.call(*case.tensors, *case.trailing(unary_params()))


@family("binary")
def binary(case):
    case.call(*case.tensors, *case.trailing(binary_params()))


@family("vector-scalar")
def vector_scalar(case):
    case.call(*case.tensors, 1, *case.trailing(unary_params()))
