"""HardSwishGrad: gradient of hard-swish, first version; the ends of the line belong to it."""
