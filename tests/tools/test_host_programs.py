"""The example host programs, which launch through executors and streams, under ``ascsim run``."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("program", "printed", "kernel"),
    [
        (
            "aclnn_hardswish_backward_v2",
            [
                "result[0] is: 0.000000",
                "result[1] is: 0.833333",
                "result[2] is: 2.333333",
                "result[3] is: 3.000000",
                "result[7] is: 7.000000",
            ],
            "HardSwishGradV2",
        ),
        (
            "aclnn_max_pooling_grad",
            [
                "dx[0] = 0.500000  (dy=0.500000)",
                "dx[1] = 1.500000  (dy=1.500000)",
                "dx[2] = 3.000000  (dy=3.000000)",
                "dx[3] = 2.000000  (dy=2.000000)",
                "dx[4] = 0.000000  (dy=9.900000)",
            ],
            "MaxPoolingGrad",
        ),
    ],
)
def test_a_host_program_prints_the_published_results_and_its_launch_is_reported(
    ascsim, program, printed, kernel
):
    result = ascsim("run", f"examples/{program}.py")
    assert result.exit_code == 0, result.stderr
    for line in printed:
        assert line in result.stdout
    assert f"launch 1: {kernel}" in result.stdout
    assert result.stderr == ""
