"""Measures what each transform changes on a GPU, and writes `transforms/evidence.json`.

    python bench/gpu/measure.py --out transforms/evidence.json

Needs torch, transformers, accelerate, peft and bitsandbytes, and a CUDA device that nothing else uses. Every side of
every case runs in a process of its own, so that order does not matter. A case that fails is written down as a failure.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import signal
import statistics
import sys
import tempfile
import time
import traceback
from pathlib import Path

SUBJECTS = ("graphs", "devices", "optimizers", "caches", "checkpointing", "precision", "quantized", "loading", "trainers",
            "sharding")
# What takes long to import and is imported late by what is measured: once here instead of in every child.
PRELOADED = ("torch._dynamo", "transformers.models.llama.modeling_llama", "transformers.trainer", "accelerate")
# What touches CUDA when it is imported, and what imports that: only the children may.
CHILDREN_ONLY = ("bitsandbytes", "peft")
LONGEST_SIDE_S = 90


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="transform ids, separated by commas; the others of an existing file are kept")
    parser.add_argument("--list", action="store_true", help="print what would be measured")
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes: whether everything runs, not what it takes")
    asked = parser.parse_args()
    # The parent must not touch CUDA: its children are forks, and each starts CUDA anew.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    os.environ["MEMFIX_GPU_DEVICE"] = asked.device
    os.environ["MEMFIX_GPU_SMOKE"] = "1" if asked.smoke else "0"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    sys.modules.update(dict.fromkeys(CHILDREN_ONLY))
    for needed in PRELOADED + SUBJECTS:
        __import__(needed)
    from case import CASES

    only = set(asked.only.split(",")) if asked.only else None
    known = {name for case in CASES for name in case.transforms}
    if only is not None and not only <= known:
        sys.exit(f"Nothing is known of {', '.join(sorted(only - known))}.\nNext: --list names what is measured.")
    chosen = [case for case in CASES if only is None or only & set(case.transforms)]
    if asked.list:
        for case in chosen:
            print(f"{', '.join(case.transforms)}: {case.what} ({case.setup})")
        return
    known_before = json.loads(asked.out.read_text("utf8")) if only and asked.out and asked.out.exists() else None
    setup = machine(asked)
    results = {}
    for index, case in enumerate(chosen):
        began = time.monotonic()
        results[index] = compared(case)
        told = results[index].get("failure") or summary(results[index])
        print(f"[{index + 1}/{len(chosen)}] {case.transforms[0]}: {case.what}: {told} "
              f"({time.monotonic() - began:.1f} s)", flush=True)
        if asked.out is not None:
            # After every case, so that a run that is cut short has not been for nothing.
            asked.out.write_text(as_json(merged(known_before, report(chosen, results, only, setup))), "utf8")
    failures = [result for result in results.values() if "failure" in result]
    print(f"{len(chosen)} cases, {len(failures)} failed")
    sys.exit(1 if failures else 0)


def compared(case) -> dict:
    """Both sides of a case, and how far their results lie apart."""
    entry = {"what": case.what, "setup": case.setup}
    answers: dict[str, list[dict]] = {"before": [], "after": []}
    for _ in range(case.rounds):
        for side, found in answers.items():
            answer = in_a_child(case, side == "after")
            if "failure" in answer:
                return entry | {"failure": f"{side}: {answer['failure']}"}
            found.append(answer)
    entry |= {side: found[0]["found"] | timed([answer["times"] for answer in found]) for side, found in answers.items()}
    before, after = (found[0]["seen"] for found in answers.values())
    if before and len(before) == len(after):
        entry["difference"] = float(f"{max(abs(a - b) for a, b in zip(before, after)):.1e}")
    return entry


def timed(rounds: list[list[float]]) -> dict:
    """The median step, between the fastest and the slowest: of the processes, where several measured."""
    medians = [statistics.median(times) for times in rounds if times]
    if not medians:
        return {}
    spread = medians if len(rounds) > 1 else rounds[0]
    found = {"ms": statistics.median(medians), "steps": sum(map(len, rounds))}
    if len(spread) > 1:
        found |= {"msLow": min(spread), "msHigh": max(spread)}
    return {name: round(value, 4) for name, value in found.items()}


def in_a_child(case, after: bool) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        answer, log = Path(folder, "answer.json"), Path(folder, "log")
        child = os.fork()
        if child == 0:
            run_side(case, after, answer, log)
        status = waited(child)
        if status is None:
            return {"failure": f"took longer than {LONGEST_SIDE_S} s"}
        if answer.exists():
            return json.loads(answer.read_text("utf8"))
        return {"failure": f"ended with status {status}: {log.read_text('utf8', 'replace')[-300:]}"}


def run_side(case, after: bool, answer: Path, log: Path) -> None:
    """The child's whole life; it never returns."""
    try:
        sink = os.open(log, os.O_CREAT | os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        for name in CHILDREN_ONLY:
            del sys.modules[name]
        from meter import measure

        answer.write_text(json.dumps(measure(case, after)), "utf8")
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        answer.write_text(json.dumps({"failure": told[:600]}), "utf8")
    finally:
        os._exit(0)


def waited(child: int) -> int | None:
    deadline = time.monotonic() + LONGEST_SIDE_S
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def machine(asked) -> dict:
    import torch
    import transformers

    found = {
        "gpu": gpu_name() if asked.device == "cuda" else "none",
        "torch": torch.__version__,
        "cuda": torch.version.cuda or "none",
        "transformers": transformers.__version__,
        "python": platform.python_version(),
    }
    return found | {"smoke": True} if asked.smoke else found


def gpu_name() -> str:
    """Asked of a child, because the parent must not touch CUDA."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            import torch

            os.write(writer, torch.cuda.get_device_name().encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as answer:
        return answer.read() or "unknown"


def report(chosen, results: dict, only: set[str] | None, setup: dict) -> dict:
    from workload import SEED

    measured: dict = {}
    for index, result in results.items():
        for name in chosen[index].transforms:
            if only is None or name in only:
                measured.setdefault(name, []).append(result)
    return {
        "machine": setup | {"date": datetime.date.today().isoformat(), "seed": SEED},
        "measured": dict(sorted(measured.items())),
    }


def as_json(written: dict) -> str:
    """As the formatter of the repository would lay it out: exponents without a leading zero."""
    return re.sub(r"(\de-)0(\d)", r"\1\2", json.dumps(written, indent=2, ensure_ascii=False)) + "\n"


def merged(old: dict | None, new: dict) -> dict:
    if old is None:
        return new

    def same(machine: dict) -> dict:
        return {name: value for name, value in machine.items() if name != "date"}

    if same(old["machine"]) != same(new["machine"]):
        sys.exit(f"The file was measured elsewhere: {old['machine']}.\nNext: measure all of it here, without --only.")
    return new | {"measured": dict(sorted((old["measured"] | new["measured"]).items()))}


def summary(entry: dict) -> str:
    def side(found: dict) -> str:
        return " ".join(f"{name}={value}" for name, value in found.items() if name not in ("msLow", "msHigh"))

    return f"{side(entry['before'])} -> {side(entry['after'])} difference={entry.get('difference')}"


if __name__ == "__main__":
    main()
