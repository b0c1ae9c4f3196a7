"""An operator of one's own: aclnnSquaredRelu, out = max(self, 0) ** 2.

Importing the package registers the operator, as the operators of the project itself do.
"""

from squared_relu import definition, infershape, tiling
from squared_relu.api import squared_relu

__all__ = ["definition", "infershape", "squared_relu", "tiling"]
