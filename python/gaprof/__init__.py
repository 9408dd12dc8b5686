"""gaprof: what the gap between backward() and optimizer.step() costs.

The package finds the program that its wheel installs; `python -m gaprof` runs it.
"""

from ._binary import find_binary

__all__ = ["find_binary"]
