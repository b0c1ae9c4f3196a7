"""Every declared combination of architecture, element types and form runs, the others are refused.

The matrix comes from the declarations, so a new instruction is in it at once; how instructions of
an unusual shape are called is in ``matrix_calls.py``.
"""

from __future__ import annotations

import matrix_adapters  # noqa: F401 - registers the adapters of the unusual shapes
import numpy as np
import pytest
from harness import on_core
from matrix_calls import ADAPTERS, IN_GLOBAL_MEMORY, NO_INSTRUCTION, PLATFORMS, Case, adapter_of

from simulator.dtypes import BY_NAME, half
from simulator.errors import DTypeError, UnsupportedError
from simulator.instruction import READ, REGISTRY, describe_dtypes

DECLARED = [
    (name, arch, spec)
    for name in REGISTRY
    for arch, spec in REGISTRY[name].items()
    # Calls without tensors have no element types: nothing to combine.
    if arch in PLATFORMS and (spec.operands or name in ADAPTERS)
]


def each_type(spec, dtypes):
    return dtypes if isinstance(dtypes, tuple) else (dtypes,) * len(spec.operands)


def combinations(name, arch, spec):
    """Legal element types and forms; calls that take any type are tried with one."""
    for dtypes in sorted(spec.dtypes[arch], key=describe_dtypes) or [half]:
        for form in spec.forms:
            if form == "count" or (arch, describe_dtypes(dtypes)) not in spec.count_only:
                yield Case(name, arch, each_type(spec, dtypes), form, spec)


def run(case, call):
    def body(t):
        case.t = t
        return call(case)

    tensors = case.contents()
    gm = {name: tensors.pop(name) for name in IN_GLOBAL_MEMORY.get(case.name, ())}
    return on_core(body, platform=PLATFORMS[case.arch], gm=gm, **tensors)


def refused(case, *errors):
    """Whether the call ends with one of the errors; any other error passes through."""
    try:
        run(case, adapter_of(case))
    except errors:
        return True
    return False


def own_instructions(done):
    """What the case issued, without the loading and storing of the whole buffer around it."""
    return [i for i in done.run.instructions if not i.location.file.endswith("probe.py")]


def written_bytes(done):
    """Bytes of the unified buffer that the record says were written."""
    touched = np.zeros(len(done.after), bool)
    for instruction in own_instructions(done):
        for operand in instruction.operands:
            if operand.space != "UB" or operand.role == READ:
                continue
            for access in operand.accesses:
                for start in access.run_starts():
                    touched[start : start + access.inner] = True
    return touched


def case_id(value):
    return f"{value[0]}-{value[1].family}" if isinstance(value, tuple) else None


@pytest.mark.parametrize("declared", DECLARED, ids=case_id)
def test_every_declared_combination_runs_and_writes_only_where_it_says(declared):
    name, arch, spec = declared
    for case in combinations(name, arch, spec):
        label = f"{name} {describe_dtypes(case.dtypes)} {case.form}"
        call = adapter_of(case)
        try:
            done = run(case, call)
        except Exception as error:
            raise AssertionError(f"{label}: {error}") from error
        assert own_instructions(done) or name in NO_INSTRUCTION, f"{label} left no record"
        stray = np.setdiff1d(done.changed(), np.flatnonzero(written_bytes(done)))
        assert stray.size == 0, f"{label} changed bytes {stray[:8]} that no operand covers"


@pytest.mark.parametrize(
    "declared", [d for d in DECLARED if d[2].operands and d[2].dtypes[d[1]]], ids=case_id
)
def test_every_other_element_type_is_refused(declared):
    name, arch, spec = declared
    legal = spec.dtypes[arch]
    for dtype in BY_NAME.values():
        types = (dtype,) * len(spec.operands)
        if dtype in legal or types in legal or any(each_type(spec, d) == types for d in legal):
            continue
        case = Case(name, arch, types, spec.forms[0], spec)
        assert refused(case, DTypeError, UnsupportedError), f"{name} accepts {dtype}"


ONE_SIDED = [
    (name, arch, spec)
    for name, _, spec in DECLARED
    for arch in PLATFORMS
    if arch not in REGISTRY[name]
]


@pytest.mark.parametrize("declared", ONE_SIDED, ids=case_id)
def test_a_call_of_the_other_architecture_is_refused(declared):
    name, arch, spec = declared
    (there,) = (a for a in REGISTRY[name] if a in PLATFORMS)
    case = next(combinations(name, there, spec))
    case.arch = arch
    with pytest.raises(UnsupportedError, match=arch.family):
        run(case, adapter_of(case))


@pytest.mark.parametrize("declared", DECLARED, ids=case_id)
def test_a_form_with_a_count_only_type_is_refused(declared):
    name, arch, spec = declared
    only = [d for d in spec.dtypes[arch] if (arch, describe_dtypes(d)) in spec.count_only]
    for dtypes in only:
        for form in spec.forms:
            if form == "count":
                continue
            case = Case(name, arch, each_type(spec, dtypes), form, spec)
            assert refused(case, UnsupportedError), f"{form} form with {describe_dtypes(dtypes)}"
