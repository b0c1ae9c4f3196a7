"""Device code of the operator, one folder per kernel file."""
