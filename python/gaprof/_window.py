"""What one rank writes of one window of recorded steps."""

from __future__ import annotations

import contextlib
import json
import math
import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

Count = Union[int, Any, Callable[[], Any]]
"""Valid tokens of a micro-batch: a number, a tensor of one element, or what returns one of them when it is called."""
FOLLOWED = "rank_loss"  # in the loss log of a rank: the sum of what its backward passes of a step were called on


class Place(NamedTuple):
    """Which process this is."""

    rank: int  # from 0
    world: int  # processes

    def __str__(self) -> str:
        return f"rank{self.rank}of{self.world}"


class Micro(NamedTuple):
    """What is known of a micro-batch. Tensors stay as they are until the window ends: reading one would make the host
    wait for the device in the middle of what is recorded."""

    tokens: Count
    loss: Any = None  # mean over those tokens
    followed: Any = None  # what backward() was called on


def place() -> Place:
    """This process among those that train together: of torch.distributed, else of RANK and WORLD_SIZE, else the only one."""
    with contextlib.suppress(Exception):
        import torch.distributed as dist

        if dist.is_available() and dist.is_initialized():
            return Place(dist.get_rank(), dist.get_world_size())
    with contextlib.suppress(ValueError):
        here = Place(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))
        if 0 <= here.rank < here.world:
            return here
    return Place(0, 1)


def recorded(action: Any) -> bool:
    """Whether a torch.profiler.ProfilerAction records."""
    return getattr(action, "name", "").startswith("RECORD")


def window(schedule: Callable[[int], Any], now: int) -> Tuple[int, int]:
    """The steps that a profiler holds whose on_trace_ready is called at step_num now: the first, and one after the last."""
    saved = now > 0 and schedule(now - 1).name == "RECORD_AND_SAVE"
    end = now if saved else now + 1  # stopped within step now
    first = end - 1
    while first > 0 and recorded(schedule(first - 1)) and schedule(first - 1).name != "RECORD_AND_SAVE":
        first -= 1
    return first, end


def lines_of(counts: Dict[int, List[Micro]], steps: Tuple[int, int], rank: int) -> Tuple[List[dict], List[dict]]:
    """The token log and the loss log of a window, whose first step is 0 in both, as in the trace.

    A step whose counts are not all to be had is left out: unknown is better than wrong."""
    tokens: List[dict] = []
    losses: List[dict] = []
    for step in range(*steps):
        try:
            micros = [(whole(m.tokens), number(m.loss), number(m.followed)) for m in counts.get(step, ())]
        except Exception:
            continue
        for index, (valid, loss, _) in enumerate(micros):
            line = {"step": step - steps[0], "rank": rank, "micro_batch": index, "local_valid_tokens": valid, "run_step": step}
            tokens.append(line)
            if loss is not None:
                losses.append({**line, "loss_mean": loss})
        followed = [f for _, _, f in micros if f is not None]
        if micros and len(followed) == len(micros):
            losses.append({"step": step - steps[0], "rank": rank, FOLLOWED: math.fsum(followed)})
    return tokens, losses


def whole(count: Count) -> int:
    """A count as a number; refuses what is none."""
    value = int(count() if callable(count) else count)
    if value < 0:
        raise ValueError(f"{value} tokens")
    return value


def number(loss: Any) -> Optional[float]:
    """A loss as a number; None where it is not known or not finite."""
    loss = loss() if callable(loss) else loss
    value = None if loss is None else float(loss)
    return value if value is not None and math.isfinite(value) else None


def write(path: str, text: str) -> None:
    """Writes a file whole or not at all."""
    part = path + ".part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    except BaseException:
        remove(part)
        raise


def write_lines(path: str, lines: List[dict]) -> None:
    """Writes JSON lines; without any, removes what an earlier run left there."""
    if lines:
        write(path, "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    else:
        remove(path)


def remove(path: str) -> None:
    """Removes a file that may not be there."""
    with contextlib.suppress(OSError):
        os.remove(path)


def export(profiler: Any, path: str) -> None:
    """Writes a profiler's trace, compressed, whole or not at all."""
    folder, name = os.path.split(path)
    part = os.path.join(folder, ".part-" + name)
    try:
        profiler.export_chrome_trace(part)
        if os.path.getsize(part) < 40:
            raise OSError(f"PyTorch wrote an empty trace; is the disk full? {path}")
        os.replace(part, path)
    except BaseException:
        remove(part)
        raise
