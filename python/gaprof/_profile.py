"""Recording a training loop."""

from __future__ import annotations

import atexit
import json
import os
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from ._analysis import Judging, done_file, judge
from ._guard import Guard, logger
from ._window import Count, Micro, Place, export, lines_of, place, recorded, remove, window, write, write_lines

__all__ = ["handler", "profile"]

KEPT = 256  # steps whose counts a handler keeps: it does not know which of them will have been recorded
Folder = Union[str, "os.PathLike[str]"]


class handler:
    """What a torch.profiler.profile calls when a trace is ready: `on_trace_ready=gaprof.handler("runs/")`.

    Each rank writes its trace and, if `tokens` was called, its token log. When the process ends, or at `finish()`, rank 0
    waits for the files of the others and has gaprof analyze all of them. A second window of steps goes into a folder of
    its own, `runs/steps-20-25`. Nothing here raises an Exception.

    Args:
        folder: where the files go; it is made. Files of an earlier run with as many ranks are replaced.
        analyze: run the analysis on the first rank that records.
        html: write report.html too.
        wait: seconds that it waits for the files of the other ranks.
        time_limit: seconds that the analysis may take.
        ranks: those that record; None all of them.
    """

    def __init__(self, folder: Folder, *, analyze: bool = True, html: bool = True, wait: float = 60.0,
                 time_limit: float = 300.0, ranks: Optional[Iterable[int]] = None) -> None:
        self.guard = Guard()
        self.folder = "gaprof"
        self.judging = Judging()
        self.windows: List[Tuple[str, int]] = []  # folders that hold a trace of this rank, and the number of ranks
        self.verdicts: List[str] = []  # of the analyses that ended
        self.counts: Dict[int, List[Micro]] = {}
        self.analyze = analyze
        with self.guard("the options of the recording"):
            self.folder = os.fspath(folder)
            self.judging = Judging(None if ranks is None else tuple(int(r) for r in ranks), float(wait), float(time_limit), bool(html))
            self._forget()
            if analyze:
                atexit.register(self.finish)

    def tokens(self, count: Count, step: int, loss: Any = None, followed: Any = None) -> None:
        """Says how many valid tokens the next micro-batch of a step has: those whose loss counts.

        Args:
            count: a number; or a tensor of one element or a function that returns one, read when the window has ended.
            step: the profiler's `step_num`.
            loss: the mean of the micro-batch's loss over these tokens: a number or a tensor of one element. Optional.
            followed: what backward() is called on, where gradients are averaged over ranks and not scaled. Optional.
        """
        with self.guard("the token count"):
            micro = Micro(count, *(x.detach() if hasattr(x, "detach") else x for x in (loss, followed)))
            self.counts.setdefault(int(step), []).append(micro)
            while len(self.counts) > KEPT:
                del self.counts[min(self.counts)]

    def __call__(self, profiler: Any) -> None:
        """Writes what a torch.profiler.profile has recorded."""
        with self.guard("writing the trace"):
            here = place()
            if here.rank in self.judging.of(here.world):
                self._write(profiler, here)

    def finish(self) -> Optional[str]:
        """Analyzes what was recorded since the last call, on the first rank that records; returns the last verdict."""
        windows, self.windows = self.windows, []
        verdict = None
        with self.guard("the analysis"):
            here = place()
            if self.analyze and here.rank == min(self.judging.of(here.world), default=-1):
                for folder, world in windows:
                    verdict = judge(folder, Place(here.rank, world), self.judging, self.guard)
                    self.verdicts += [verdict] if verdict else []
        return verdict

    def _forget(self) -> None:
        """Removes what this rank wrote in an earlier run, for which rank 0 would not wait."""
        here = place()
        for name in (f"trace-{here}.json.gz", f"tokens-{here}.jsonl", f"loss-{here}.jsonl"):
            remove(os.path.join(self.folder, name))
        remove(done_file(self.folder, here))

    def _write(self, profiler: Any, here: Place) -> None:
        steps = window(getattr(profiler, "schedule", None) or (lambda step: None), int(getattr(profiler, "step_num", 0)))
        folder = self.folder
        if self.windows or self.verdicts:
            folder = os.path.join(folder, f"steps-{steps[0]}-{steps[1] - 1}")
        wrote: Dict[str, Any] = {"first_step": steps[0]}
        self.windows.append((folder, here.world))
        os.makedirs(folder, exist_ok=True)
        remove(done_file(folder, here))
        with self.guard("writing the trace"):
            export(profiler, os.path.join(folder, f"trace-{here}.json.gz"))
            wrote["trace"] = f"trace-{here}.json.gz"
        with self.guard("writing the token log"):
            logs = lines_of(self.counts, steps, here.rank)
            for name, lines in zip(("tokens", "loss"), logs):
                write_lines(os.path.join(folder, f"{name}-{here}.jsonl"), lines)
                wrote[name] = f"{name}-{here}.jsonl" if lines else None
        for step in [s for s in self.counts if s < steps[1]]:
            del self.counts[step]
        write(done_file(folder, here), json.dumps(wrote))


class profile:
    """Records a training loop with torch.profiler and has gaprof analyze it when the loop has ended.

        with gaprof.profile("runs/") as prof:
            for batch in loader:
                train_step(batch)
                prof.step()

    Each rank writes `trace-rank0of8.json.gz` into the folder, and its token log if `tokens` was called. The rest is as
    with `handler`, whose options it takes too. An exception of the loop passes as it is, and what was recorded until
    then is written but not analyzed. Nothing else here raises an Exception: where recording fails, that is logged, and
    the loop goes on without.

    Args:
        folder: where the files go; it is made.
        wait: steps before anything happens.
        warmup: steps for which the profiler runs and drops what it sees; its own start distorts the first.
        active: steps that are recorded; from five on, gaprof compares times.
        repeat: how often this is done; 0 until the loop ends.
        skip_first: steps before the first wait, such as those that compile.
        record_shapes: shapes of tensors: without them the sizes of passes over the gradients are not known.
        with_stack: lines of the program; slower, and larger traces.
        profile_memory: allocations, for peaks of memory and what holds it.
        activities: of torch.profiler; None for all that there are.
        wait_for_ranks: seconds that rank 0 waits for the files of the others.
        options: those of `handler`: analyze, html, time_limit, ranks.
    """

    def __init__(self, folder: Folder, *, wait: int = 2, warmup: int = 2, active: int = 6, repeat: int = 1, skip_first: int = 0,
                 record_shapes: bool = True, with_stack: bool = False, profile_memory: bool = False,
                 activities: Optional[Iterable[Any]] = None, wait_for_ranks: float = 60.0, **options: Any) -> None:
        self.guard = Guard()
        self._schedule = dict(wait=wait, warmup=warmup, active=active, repeat=repeat, skip_first=skip_first)
        self._profiler_options = dict(record_shapes=record_shapes, with_stack=with_stack, profile_memory=profile_memory)
        self._activities = activities
        self._made = lambda: handler(folder, wait=wait_for_ranks, **options)
        self._handler: Optional[handler] = None
        self._profiler: Any = None

    @property
    def recording(self) -> bool:
        """Whether what runs now is recorded."""
        with self.guard("the state of the profiler"):
            return self._profiler is not None and recorded(self._profiler.current_action)
        return False

    @property
    def verdict(self) -> Optional[str]:
        """What the analysis said, on the rank that ran it, after the loop; None if there was none."""
        return self._handler.verdicts[-1] if self._handler and self._handler.verdicts else None

    def start(self) -> "profile":
        """Begins; `with` does it."""
        with self.guard("starting the profiler"):
            self._handler = self._made()
            atexit.unregister(self._handler.finish)  # close does it
            here = place()
            if here.rank in self._handler.judging.of(here.world):
                self._start(self._handler)
        return self

    def _start(self, ready: handler) -> None:
        from torch import profiler

        made = profiler.profile(activities=self._activities or activities(), schedule=profiler.schedule(**self._schedule),
                                on_trace_ready=ready, **self._profiler_options)
        made.start()
        self._profiler = made

    def step(self) -> None:
        """Says that an optimizer step is complete; called once per step, after the optimizer."""
        with self.guard("a step of the profiler"):
            if self._profiler is not None:
                self._profiler.step()

    def tokens(self, count: Count, loss: Any = None, followed: Any = None) -> None:
        """Says how many valid tokens the next micro-batch has, those whose loss counts; called once per micro-batch.

        Args:
            count: a number; or a tensor of one element or a function that returns one, read when the window has ended,
                so that the host does not wait for the device.
            loss: the mean of the micro-batch's loss over these tokens: a number or a tensor of one element. Optional.
            followed: what backward() is called on, where gradients are averaged over ranks and not scaled. Optional.
        """
        with self.guard("the token count"):
            if self._handler is not None and self.recording:
                self._handler.tokens(count, self._profiler.step_num, loss, followed)

    def close(self, failed: bool = False) -> None:
        """Ends the recording and analyzes it; after a failed loop, only ends it. `with` does it."""
        profiler, self._profiler = self._profiler, None
        with self.guard("stopping the profiler"):
            if profiler is not None:
                profiler.stop()
        with self.guard("the analysis"):
            if self._handler is None or failed:
                return
            if profiler is not None and not self._handler.windows and not self._handler.guard.failed:
                first = sum(self._schedule[k] for k in ("skip_first", "wait", "warmup"))
                logger.warning("gaprof: nothing was recorded: the loop ended after %s steps, and recording begins after %s; "
                               "is prof.step() called after each optimizer step?", profiler.step_num, first)
            self._handler.finish()

    def __enter__(self) -> "profile":
        return self.start()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.close(failed=kind is not None)


def activities() -> List[Any]:
    """All that this PyTorch can record."""
    from torch import profiler

    supported = getattr(profiler, "supported_activities", None)
    if supported is not None:
        return list(supported())
    import torch

    cuda = [profiler.ProfilerActivity.CUDA] if torch.cuda.is_available() else []
    return [profiler.ProfilerActivity.CPU, *cuda]
