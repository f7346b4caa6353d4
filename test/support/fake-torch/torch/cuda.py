import sys
import types
import warnings

from . import _C

allocated = {}
peaks = {}
_waiting = []
_awake = False


def wake(devices=1):
    """What the first use of a GPU does."""
    global _awake
    _awake = True
    for index in range(devices):
        allocated.setdefault(index, 0)
        peaks.setdefault(index, 0)
    while _waiting:
        _waiting.pop()()


def allocate(size, device=0):
    allocated[device] += size
    peaks[device] = max(peaks[device], allocated[device])


def synchronizing():
    if _awake and _C.sync_mode == 1:
        warnings.warn("called a synchronizing CUDA operation", stacklevel=2)


def _lazy_call(work):
    work() if _awake else _waiting.append(work)


def is_initialized():
    return _awake


def device_count():
    return len(allocated)


def memory_allocated(device):
    return allocated[device]


def memory_reserved(device):
    return 2 * allocated[device]


def max_memory_allocated(device):
    return peaks[device]


def max_memory_reserved(device):
    return 2 * peaks[device]


def reset_peak_memory_stats(device=0):
    peaks[device] = allocated[device]


def get_device_name(device):
    return "Fake GPU"


def get_device_properties(device):
    return types.SimpleNamespace()


memory = types.ModuleType("torch.cuda.memory")
memory.reset_peak_memory_stats = reset_peak_memory_stats
sys.modules["torch.cuda.memory"] = memory
