"""Compares gaprof's overlap of communication and computation with HolisticTraceAnalysis's, over the window that the latter keeps.

    .venv/bin/python interop/overlap.py GAPROF RANK0.json.gz [RANK1.json.gz ...]

HTA rounds starts up and ends down to whole microseconds, which alone moves an overlap of short kernels by tenths of a point: both are
given copies of the traces in whole microseconds. HTA drops the last ProfilerStep and every kernel that was launched in it or outside all
steps: gaprof's copy has just the device events that HTA kept. Exits with 1 where the ranks differ or an overlap by more than 0.01 points.
"""

import contextlib
import gzip
import json
import logging
import math
import os
import subprocess
import sys
import tempfile
import warnings

sys.path.pop(0)  # this folder: hta.py there is not the package

ACTIVITY = {"kernel", "gpu_memcpy", "gpu_memset"}
TOLERANCE = 0.01  # percent points: HTA gives its percentages with two decimals


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def whole(path, folder):
    """A copy of the trace in which every start and end is a whole microsecond, both rounded down so that no two events cross."""
    trace = load(path)
    for event in trace["traceEvents"]:
        if "ts" in event:
            start, end = math.floor(event["ts"]), math.floor(event["ts"] + event.get("dur", 0))
            event["ts"] = start
            if "dur" in event:
                event["dur"] = end - start
    return save(trace, os.path.join(folder, os.path.basename(path).removesuffix(".gz")))


def save(trace, path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    return path


def peer(paths):
    """What HTA says: overlap by rank, and by rank the correlation ids of the device events it keeps."""
    with contextlib.redirect_stdout(sys.stderr):
        from hta.trace_analysis import TraceAnalysis

        files = {load(path)["distributedInfo"]["rank"]: os.path.abspath(path) for path in paths}
        analysis = TraceAnalysis(trace_files=files, trace_dir="")
        table = analysis.get_comm_comp_overlap(visualize=False)
    overlap = dict(zip(table["rank"], table["comp_comm_overlap_pctg"]))
    kept = {}
    for rank in files:
        frame = analysis.t.get_trace(rank)
        kept[rank] = set(frame[frame["stream"].ne(-1)]["correlation"])
    return files, overlap, kept


def ours(gaprof, files, kept, folder):
    """What gaprof says of the events that HTA kept."""
    paths = []
    for rank, path in files.items():
        trace = load(path)
        trace["traceEvents"] = [
            e for e in trace["traceEvents"] if e.get("cat") not in ACTIVITY or e["args"].get("correlation") in kept[rank]
        ]
        paths.append(save(trace, os.path.join(folder, f"kept{rank}.json")))
    report = json.loads(subprocess.run([gaprof, "analyze", "--format", "json", *paths], check=True, capture_output=True).stdout)
    return {c["rank"]: 100 * c["overlap"] for c in report["communication"]}


def main(gaprof, *paths):
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        files, theirs, kept = peer([whole(path, folder) for path in paths])
        mine = ours(os.path.abspath(gaprof), files, kept, folder)
    failed = sorted(mine) != sorted(theirs)
    for rank in sorted(set(mine) | set(theirs)):
        a, b = mine.get(rank), theirs.get(rank)
        apart = abs(a - b) if a is not None and b is not None else float("inf")
        failed = failed or not apart <= TOLERANCE
        print(f"interop: rank {rank}: overlap {a:.2f} % (gaprof), {b:.2f} % (HolisticTraceAnalysis), {apart:.2f} points apart")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
