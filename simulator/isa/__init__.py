"""The instructions: one declaration each, in the file of their group."""
