"""Loads trace files in HolisticTraceAnalysis and prints, as JSON, the ranks it found and its communication-computation overlap.

    .venv/bin/python interop/hta.py RANK0.json.gz [RANK1.json.gz ...]

The ranks are those in the files (distributedInfo), else the order of the arguments.
"""

import contextlib
import gzip
import json
import logging
import os
import sys
import warnings

sys.path.pop(0)  # this folder: the package has this file's name


def rank_of(path, default):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    info = trace.get("distributedInfo", {}) if isinstance(trace, dict) else {}
    return int(info.get("rank", default))


def main(paths):
    if not paths:
        sys.exit(__doc__)
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    result = {}
    with contextlib.redirect_stdout(sys.stderr):
        from hta.trace_analysis import TraceAnalysis

        files = {rank_of(path, order): os.path.abspath(path) for order, path in enumerate(paths)}
        if len(files) != len(paths):
            sys.exit("hta: two files of one rank")
        analysis = TraceAnalysis(trace_files=files, trace_dir="")
        result["ranks"] = sorted(analysis.t.get_all_traces() if hasattr(analysis.t, "get_all_traces") else analysis.t.traces)
        for name, call in (
            ("overlap_percent", lambda: analysis.get_comm_comp_overlap(visualize=False)),
            ("breakdown", lambda: analysis.get_temporal_breakdown(visualize=False)),
        ):
            try:
                result[name] = json.loads(call().to_json(orient="records"))
            except Exception as err:  # a CPU trace has no kernels to overlap
                result[name] = None
                result[name + "_error"] = f"{type(err).__name__}: {err}"
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1:])
