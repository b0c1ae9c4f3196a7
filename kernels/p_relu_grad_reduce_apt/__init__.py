"""PReluGradReduce on 950: sum of the updates over every axis but the channel."""
