"""Measures one side of a case, in a process of its own."""

from __future__ import annotations

import gc
import resource
import time
import warnings

import torch

from case import Case
from workload import DEVICE, SEED

MIB = 2**20
# How much of a result is compared between before and after.
COMPARED = 4096


def measure(case: Case, after: bool) -> dict:
    torch.manual_seed(SEED)
    step = case.build(after)
    seen: list[float] = []
    outcome = None
    for _ in range(case.warmup):
        seen += numbers(step())
    gc.collect()
    held = start()
    host = peak_host()
    times = []
    for _ in range(case.steps):
        began = time.perf_counter()
        value = step()
        synchronize()
        times.append((time.perf_counter() - began) * 1000)
        if isinstance(value, str):
            outcome = value
        seen += numbers(value)
        del value
    if outcome is not None:
        return {"found": {"outcome": outcome}, "times": [], "seen": []}
    found = {}
    if DEVICE == "cuda":
        found["peak"] = round(torch.cuda.max_memory_allocated() / MIB, 1)
        found["reserved"] = round(torch.cuda.memory_reserved() / MIB, 1)
        if case.warmup > 0:
            found["growth"] = round((torch.cuda.memory_allocated() / MIB - held) / case.steps, 3)
    if case.host:
        found["host"] = round(peak_host() - host, 1)
    if case.warmup > 0:
        found |= complaints(step)
    return {"found": found, "times": times, "seen": seen}


def start() -> float:
    """Begins a measurement and says how much is allocated."""
    if DEVICE != "cuda":
        return 0.0
    synchronize()
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated() / MIB


def synchronize() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def peak_host() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def complaints(step) -> dict:
    """How often one more step waits for the GPU, and how many warnings it gives."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if DEVICE == "cuda":
            torch.cuda.set_sync_debug_mode("warn")
        step()
        if DEVICE == "cuda":
            torch.cuda.set_sync_debug_mode("default")
    # The first line is what the mode itself says when it is switched on.
    told = [str(warning.message) for warning in heard if "prototype feature" not in str(warning.message)]
    syncs = [message for message in told if "synchronizing" in message]
    found = {"warnings": len(told) - len(syncs)}
    return {"syncs": len(syncs)} | found if DEVICE == "cuda" else found


def numbers(value: object) -> list[float]:
    """The figures of a result that before and after should share."""
    if isinstance(value, torch.Tensor):
        flat = value.detach().flatten()
        stride = max(1, flat.numel() // COMPARED)
        return flat[::stride].double().cpu().tolist()
    if isinstance(value, (int, float)):
        return [float(value)]
    if isinstance(value, (list, tuple)):
        return [number for part in value for number in numbers(part)]
    return []
