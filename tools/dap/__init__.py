"""The debugger for editors: a server of the Debug Adapter Protocol over standard input and output.

Protocol: https://microsoft.github.io/debug-adapter-protocol/specification
"""
