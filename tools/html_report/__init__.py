"""The HTML report: one file with everything a run says, for a browser without a network."""

from tools.html_report.page import render, write_html

__all__ = ["render", "write_html"]
