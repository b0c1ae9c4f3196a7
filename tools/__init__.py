"""What people use: the ascsim command, debugger, reports, sweeps and lessons."""
