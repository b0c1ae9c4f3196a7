"""Run a few vector calls on one core and look at the whole unified buffer afterwards.

::

    from harness import on_core

    done = on_core(lambda t: Add(t.dst, t.src0, t.src1, 100), src0=a, src1=b, dst=zeros)
    done["dst"]  # the values of dst afterwards
    done.changed_outside("dst")  # addresses of changed bytes that are not in dst

Tensors are named by keywords: a numpy array of the element type, or ``Filled("int4b_t", raw)`` for
a type that shares its numpy storage with another one. They start at multiples of 512 bytes, in the
order they are given; bytes between and behind them hold 0xA5.
"""

from __future__ import annotations

from tools.isa_cases.probe import Filled, Probe, run_probe

__all__ = ["Filled", "Probe", "on_core"]

_OPTIONS = ("platform", "gm", "strict", "background", "blocks")


def on_core(body, /, **tensors):
    """Run ``body(t)`` on one core of ``platform`` (default ``"910b"``) and return a ``Probe``.

    Keywords other than platform, gm, strict, background and blocks name tensors in UB; ``gm`` maps
    names to arrays in global memory (``t.<name>`` is then a GlobalTensor).
    """
    options = {name: tensors.pop(name) for name in _OPTIONS if name in tensors}
    return run_probe(body, tensors, **options)
