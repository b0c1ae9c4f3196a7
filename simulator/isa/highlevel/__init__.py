"""High-level calls: functions made of basic calls, the way the AscendC library makes them."""
