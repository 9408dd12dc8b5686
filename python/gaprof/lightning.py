"""Records the training of a Lightning Trainer: `Trainer(..., callbacks=[Callback("runs/")])`."""

from __future__ import annotations

from typing import Any, Callable, Optional

from ._guard import Guard
from ._labels import counter
from ._profile import Folder, profile
from ._window import Count

try:
    from lightning.pytorch.callbacks import Callback as Base
except ImportError:
    from pytorch_lightning.callbacks import Callback as Base

__all__ = ["Callback"]


class Callback(Base):
    """Records some steps of a fit(), with the valid tokens of each micro-batch, and analyzes them after it.

    A step ends with the batch after which trainer.global_step has grown, so accumulation is what the trainer does,
    with manual optimization too.

    Args:
        folder: where the files go.
        tokens: counts the valid tokens of a batch: returns a number or a tensor of one element. None: labels other than
            -100 of a batch that is a mapping, else what its attention_mask lets through.
        shifted: the model drops the first label of each row, as causal language models do.
        options: those of `gaprof.profile`.
    """

    def __init__(self, folder: Folder = "gaprof", *, tokens: Optional[Callable[[Any], Count]] = None, shifted: bool = False,
                 **options: Any) -> None:
        super().__init__()
        self.guard = Guard()
        self._folder, self._options = folder, options
        self._tokens, self._shifted = tokens, shifted
        self._profile: Optional[profile] = None
        self._step = 0

    @property
    def verdict(self) -> Optional[str]:
        """What the analysis said, on the rank that ran it; None if there was none."""
        return self._profile.verdict if self._profile else None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        with self.guard("starting to record"):
            self._step = trainer.global_step
            self._profile = profile(self._folder, **self._options)
            self._profile.start()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        with self.guard("counting tokens"):
            if self._profile is not None and self._profile.recording:
                count = self._tokens(batch) if self._tokens else counter(batch, self._shifted)
                if count is not None:
                    self._profile.tokens(count)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        with self.guard("a step of the profiler"):
            if self._profile is not None and trainer.global_step != self._step:
                self._step = trainer.global_step
                self._profile.step()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        if self._profile is not None:
            self._profile.close()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        if self._profile is not None:
            self._profile.close(failed=True)
