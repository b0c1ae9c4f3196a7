"""The debugger on a terminal: full screen, line by line, and from a file of commands."""
