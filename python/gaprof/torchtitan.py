"""Records the training of a torchtitan Trainer: `gaprof.torchtitan.attach(trainer, "runs/")` before `trainer.train()`."""

from __future__ import annotations

from typing import Any, Iterator

from ._labels import counter
from ._profile import Folder, profile

__all__ = ["attach"]


def attach(trainer: Any, folder: Folder = "gaprof", **options: Any) -> profile:
    """Has a trainer record some steps of train(), with the valid tokens of each micro-batch, and analyze them after it.

    A trainer is what has train() and train_step(batches), where batches yields pairs of inputs and labels
    (rows, length), and may have num_pipeline_parallel_microbatches, of which one forward and backward is made. Leave
    torchtitan's own profiler off: PyTorch runs one at a time.

    Args:
        trainer: a torchtitan.trainer.Trainer.
        folder: where the files go.
        options: those of `gaprof.profile`.

    Returns:
        What records, whose verdict is there after train().
    """
    prof = profile(folder, **options)
    with prof.guard("attaching to the trainer"):
        train, train_step = trainer.train, trainer.train_step

        def recorded_train(*args: Any, **kwargs: Any) -> Any:
            with prof:
                return train(*args, **kwargs)

        def recorded_step(batches: Any, *args: Any, **kwargs: Any) -> Any:
            result = train_step(_counted(trainer, batches, prof), *args, **kwargs)
            prof.step()
            return result

        trainer.train_step, trainer.train = recorded_step, recorded_train
    return prof


def _counted(trainer: Any, batches: Any, prof: profile) -> Iterator[Any]:
    """The batches, whose tokens are counted as they are fetched. What fetching raises passes as it is."""
    group: list = []
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        with prof.guard("counting tokens"):
            if prof.recording:
                group.append(counter({"labels": batch[1]}))
                if len(group) >= getattr(trainer, "num_pipeline_parallel_microbatches", 1):
                    counts, group = group, []
                    prof.tokens(lambda counts=counts: sum(int(count()) for count in counts))
        yield batch
