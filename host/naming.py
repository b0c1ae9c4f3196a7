"""Name of the kernel file and entry that belong to an operator type.

Source: mirror-cann/asc-devkit docs/zh/guide, naming conversion table of the aclnn operator project.
"""

from __future__ import annotations


def snake_case(op_type: str) -> str:
    """Return the default file and entry name of ``op_type``: PReluGrad → p_relu_grad.

    The first letter is lowered. A capital gets an underscore before it when the character before
    it is not a capital (a digit counts), or is one and the next is lower-case.
    """
    out: list[str] = []
    for at, char in enumerate(op_type):
        if char.isupper() and at > 0:
            following = op_type[at + 1 : at + 2]
            if not op_type[at - 1].isupper() or following.islower():
                out.append("_")
        out.append(char.lower())
    return "".join(out)
