"""Counting the valid tokens of a batch as trainers have them."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

IGNORED = -100  # the label whose loss does not count, in PyTorch and in what is built on it


def counter(batch: Any, shifted: bool = False) -> Optional[Callable[[], Any]]:
    """What counts the valid tokens of a batch later; None where the batch does not say.

    Counts labels that are not -100, else what attention_mask lets through. Counting now would launch kernels into what is
    recorded; a tensor that changes until then counts as unknown.

    Args:
        batch: a mapping with shift_labels, labels (rows, length) or attention_mask (rows, length).
        shifted: the model drops the first label of each row, as causal language models do.
    """
    if not isinstance(batch, Mapping):
        return None
    for name in ("shift_labels", "labels", "attention_mask"):
        tensor = batch.get(name)
        if tensor is not None and hasattr(tensor, "ne"):
            return later(tensor, 0 if name == "attention_mask" else IGNORED, shifted and name != "shift_labels")
    return None


def later(tensor: Any, ignored: int, shifted: bool) -> Callable[[], Any]:
    """Counts the elements of a tensor other than one value when it is called."""
    version = _version(tensor)

    def count() -> Any:
        if _version(tensor) != version:
            raise ValueError("the batch has changed since")
        rows = tensor[..., 1:] if shifted else tensor
        return rows.ne(ignored).sum()

    return count


def _version(tensor: Any) -> int:
    try:
        return tensor._version
    except (AttributeError, RuntimeError):  # inference tensors have none
        return 0
