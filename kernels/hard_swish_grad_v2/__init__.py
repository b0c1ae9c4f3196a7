"""HardSwishGradV2: gradient of hard-swish, second version."""
