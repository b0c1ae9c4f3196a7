"""The kernel of SquaredRelu and its tiling struct."""
