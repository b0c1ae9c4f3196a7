"""Use the operator of the folder ``squared_relu`` beside this file, and see what it does.

``python examples/own_operator.py`` or ``ascsim run examples/own_operator.py``.
"""

import numpy as np
from squared_relu import squared_relu

from host.errors import AclnnError
from host.tiling import tiling

x = np.linspace(-2, 2, 100_000, dtype=np.float32).astype(np.float16).reshape(250, 400)

for platform in ("910b", "950"):
    plan = tiling("SquaredRelu", platform, {"self": x.shape, "out": x.shape}, x.dtype)
    out = squared_relu(x.T, platform=platform)
    right = np.array_equal(out, np.maximum(x.T, np.float16(0)) ** 2)
    print(
        f"{platform}: {plan.block_dim} blocks, {plan.data}, result {'right' if right else 'wrong'}"
    )
    if not right:
        raise SystemExit(1)

try:
    squared_relu(np.arange(4))
except AclnnError as error:
    print(f"refused with {error.status_name}: {error.message}")
