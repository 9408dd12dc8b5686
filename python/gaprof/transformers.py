"""Records the training of a transformers.Trainer: `Trainer(..., callbacks=[TrainerCallback("runs/")])`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, List, Optional

import transformers

from ._guard import Guard
from ._labels import counter
from ._profile import Folder, profile

__all__ = ["TrainerCallback"]


class TrainerCallback(transformers.TrainerCallback):
    """Records some steps of each train(), with the valid tokens of each micro-batch, and analyzes them after it.

    Tokens are the labels other than -100 that the model is given, without the first of each row where the model shifts
    them, as Trainer counts them; else what attention_mask lets through. Micro-batches are those of
    gradient_accumulation_steps, the last and shorter group of an epoch included.

    Args:
        folder: where the files go.
        options: those of `gaprof.profile`.
    """

    def __init__(self, folder: Folder = "gaprof", **options: Any) -> None:
        self.guard = Guard()
        self._make: Callable[[], profile] = lambda: profile(folder, **options)
        self._profile: Optional[profile] = None
        self._hook: Any = None
        self._seen: List[tuple] = []  # tokens and losses of each forward pass of the micro-batch

    @property
    def verdict(self) -> Optional[str]:
        """What the analysis said, on the rank that ran it; None if there was none."""
        return self._profile.verdict if self._profile else None

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        self._unhook()
        with self.guard("starting to record"):
            self._profile = self._make()
            self._profile.start()
        with self.guard("counting tokens"):
            if getattr(args, "torch_compile", False):
                self.guard.tell("counting tokens", "not done under torch_compile")
            elif model is not None:
                self._hook = model.register_forward_hook(self._forward(shifts(model), plain(args)), with_kwargs=True)

    def _forward(self, shifted: bool, averaged: bool) -> Callable[..., None]:
        def after(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            with self.guard("counting tokens"):
                if module.training and self._profile is not None and self._profile.recording:
                    count = counter(kwargs, shifted)
                    self._seen.append((count, *losses(kwargs, output, count, averaged)))

        return after

    def _micro_batch(self) -> None:
        """A micro-batch has ended. With more than one forward pass, nobody knows which of them counts."""
        with self.guard("counting tokens"):
            seen, self._seen = self._seen, []
            if self._profile is not None and seen:
                known = len(seen) == 1 and seen[0][0] is not None
                self._profile.tokens(*(seen[0] if known else (unknown,)))

    def on_substep_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._micro_batch()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._micro_batch()
        if self._profile is not None:
            self._profile.step()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._unhook()
        if self._profile is not None:
            self._profile.close()

    def _unhook(self) -> None:
        with self.guard("counting tokens"):
            hook, self._hook, self._seen = self._hook, None, []
            if hook is not None:
                hook.remove()


def unknown() -> int:
    """The count of a micro-batch that cannot be counted: the whole step is left out of the log."""
    raise ValueError("not known")


def losses(kwargs: Any, output: Any, count: Any, averaged: bool) -> tuple:
    """What is known, when the window has ended, of the loss of a forward pass: its mean over valid tokens, and what backward()
    was called on, by the factor that the backward pass shows; None each if it is not known."""
    loss = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    if loss is None or count is None or not getattr(loss, "requires_grad", False) or loss.numel() != 1:
        return None, None
    factors: List[Any] = []
    loss.register_hook(factors.append)
    value, items = loss.detach(), kwargs.get("num_items_in_batch")

    def mean() -> Optional[float]:
        valid = int(count())
        if items is None or not valid:
            return float(value) if items is None else None
        return float(value) * float(items) / valid

    def followed() -> Optional[float]:
        return float(value) * float(factors[0]) if len(factors) == 1 else None

    return mean, followed if averaged else None


def plain(args: Any) -> bool:
    """Whether ranks average gradients that no scaler multiplies: not with FP16, DeepSpeed or DataParallel."""
    return not (getattr(args, "fp16", False) or getattr(args, "deepspeed", None) or getattr(args, "n_gpu", 1) > 1)


def shifts(model: Any) -> bool:
    """Whether a model's loss leaves out the first label of each row, by the rule of transformers.Trainer."""
    model = getattr(model, "module", model)
    base = getattr(model, "get_base_model", None)  # of peft
    model = base() if callable(base) else model
    if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        return False
    return getattr(model, "loss_type", None) == "ForCausalLM"
