"""gaprof: what the gap between backward() and optimizer.step() costs.

`profile` records a training loop and has the program of this wheel judge it; `handler` does so for a profiler of one's
own; `gaprof.transformers`, `gaprof.lightning` and `gaprof.torchtitan` do so for those trainers. `python -m gaprof` runs
the program. Nothing here needs another package, and nothing imports torch before a recording starts.
"""

from ._binary import find_binary
from ._profile import handler, profile

__all__ = ["find_binary", "handler", "profile"]
