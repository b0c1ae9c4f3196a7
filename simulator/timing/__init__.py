"""From a recorded run to cycles: cost rows of the instructions and the schedule of the pipes."""
