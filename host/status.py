"""Status codes of a CANN host program: aclnn, acl, runtime and graph.

Codes are plain integers with names, so ``status == 161002`` and ``status == Aclnn.PARAM_INVALID``
mean the same. The leading digit says who is at fault: 1 the caller, 3 the runtime, 5 the library.

Source: hicann/ops-nn docs/zh/context/aclnn_return_code.md, hicann/opbase
include/nnopbase/opdev/op_errno.h, hicann/runtime include/external/acl/acl_base_rt.h and
include/external/acl/error_codes/rt_error_codes.h.
"""

from __future__ import annotations

from enum import IntEnum


class Aclnn(IntEnum):
    """Status of an aclnn call; ``ACLNN_ERR_`` is the prefix of all names but ``SUCCESS``."""

    SUCCESS = 0
    PARAM_NULLPTR = 161001
    PARAM_INVALID = 161002
    RUNTIME_ERROR = 361001
    INNER = 561000
    INNER_INFERSHAPE_ERROR = 561001
    INNER_TILING_ERROR = 561002
    INNER_FIND_KERNEL_ERROR = 561003
    INNER_CREATE_EXECUTOR = 561101
    INNER_NOT_TRANS_EXECUTOR = 561102
    INNER_NULLPTR = 561103
    INNER_WRONG_ATTR_INFO_SIZE = 561104
    INNER_KEY_CONFLICT = 561105
    INNER_INVALID_IMPL_MODE = 561106
    INNER_OPP_PATH_NOT_FOUND = 561107
    INNER_LOAD_JSON_FAILED = 561108
    INNER_JSON_VALUE_NOT_FOUND = 561109
    INNER_JSON_FORMAT_INVALID = 561110
    INNER_JSON_DTYPE_INVALID = 561111
    INNER_OPP_KERNEL_PKG_NOT_FOUND = 561112
    INNER_OP_FILE_INVALID = 561113
    INNER_ATTR_NUM_OUT_OF_BOUND = 561114
    INNER_ATTR_LEN_NOT_ENOUGH = 561115
    INNER_INPUT_NUM_IN_JSON_TOO_LARGE = 561116
    INNER_INPUT_JSON_IS_NULL = 561117
    INNER_STATIC_WORKSPACE_INVALID = 561118
    INNER_STATIC_BLOCK_DIM_INVALID = 561119


class Acl(IntEnum):
    """Status of an acl call."""

    SUCCESS = 0
    INVALID_PARAM = 100000
    UNINITIALIZE = 100001
    REPEAT_INITIALIZE = 100002
    INVALID_FILE = 100003
    UNSUPPORTED_DATA_TYPE = 100026
    REPEAT_FINALIZE = 100037
    BAD_ALLOC = 200000
    API_NOT_SUPPORT = 200001
    INVALID_DEVICE = 200002
    MEMORY_ADDRESS_UNALIGNED = 200003
    INVALID_RESOURCE_HANDLE = 200005
    STORAGE_OVER_LIMIT = 300000
    INTERNAL_ERROR = 500000
    FAILURE = 500001
    RT_FAILURE = 500003


class Rt(IntEnum):
    """Status of an aclrt call that comes from the runtime."""

    SUCCESS = 0
    PARAM_INVALID = 107000
    INVALID_DEVICEID = 107001
    CONTEXT_NULL = 107002
    STREAM_CONTEXT = 107003
    ADDR_UNALIGNED = 107008
    INVALID_HANDLE = 107017
    INVALID_MALLOC_TYPE = 107018
    WAIT_TIMEOUT = 107019
    FEATURE_NOT_SUPPORT = 207000
    MEMORY_ALLOCATION = 207001
    MEMORY_FREE = 207002
    NO_DEVICE = 207004
    NO_STREAM_RESOURCE = 207008
    DEVICE_OOM = 207018
    AICORE_TIMEOUT = 507014
    AICORE_EXCEPTION = 507015
    VECTOR_CORE_TIMEOUT = 507034
    VECTOR_CORE_EXCEPTION = 507035
    VECTOR_CORE_TRAP_READ_OVERFLOW = 507044
    VECTOR_CORE_TRAP_WRITE_OVERFLOW = 507045
    STREAM_SYNC_TIMEOUT = 507046


class GraphStatus(IntEnum):
    """What an infershape or tiling function returns; there are no other values."""

    GRAPH_SUCCESS = 0
    GRAPH_FAILED = 0xFFFFFFFF


GRAPH_SUCCESS = GraphStatus.GRAPH_SUCCESS
GRAPH_FAILED = GraphStatus.GRAPH_FAILED

_PREFIXES: tuple[tuple[type[IntEnum], str], ...] = (
    (Aclnn, "ACLNN_ERR_"),
    (Acl, "ACL_ERROR_"),
    (Rt, "ACL_ERROR_RT_"),
)


def status_name(code: int) -> str:
    """Return CANN's full name of a status code, for example ``ACLNN_ERR_PARAM_INVALID``.

    An :class:`Acl` zero is ``ACL_SUCCESS``; any other zero is ``ACLNN_SUCCESS``. A code without a
    name is returned as its digits.
    """
    if code == 0:
        return "ACL_SUCCESS" if isinstance(code, Acl | Rt) else "ACLNN_SUCCESS"
    for family, prefix in _PREFIXES:
        try:
            return prefix + family(int(code)).name
        except ValueError:
            continue
    return str(int(code))
