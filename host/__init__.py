"""The host side of a kernel: CANN's acl runtime, aclnn calls, infershape and tiling."""
