"""What keeps a failed recording from stopping the training, and how it is said."""

from __future__ import annotations

import contextlib
import logging
import sys
from typing import Iterator, Set

logger = logging.getLogger("gaprof")


def say(text: str) -> None:
    """Tells the user, on stderr where logging would drop it."""
    if logger.isEnabledFor(logging.INFO) and logger.hasHandlers():
        logger.info(text)
    elif sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)


class Guard:
    """Swallows what goes wrong in a recording; each place that fails is logged once."""

    def __init__(self) -> None:
        self.failed: Set[str] = set()

    def tell(self, what: str, reason: object) -> None:
        """Logs that something did not work, the first time."""
        if what in self.failed:
            return
        self.failed.add(what)
        with contextlib.suppress(Exception):
            if isinstance(reason, BaseException):
                reason = f"{type(reason).__name__}: {reason}"
            logger.warning("gaprof: %s: %s (training goes on)", what, reason)

    @contextlib.contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        """A block in which an Exception is logged and ends the block alone. Interrupts pass."""
        try:
            yield
        except Exception as error:
            self.tell(what, error)
