"""What a proof measures of memory, without a GPU."""

import contextlib
import gc
import weakref
from collections import Counter

import torch


def saved_bytes(work):
    """Bytes that autograd keeps for a backward pass while `work` runs, each storage once."""
    # The storages are held: what is freed on the way would leave its address to another.
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        kept[storage._cdata] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = work()
    del result
    return sum(storage.nbytes() for storage in kept.values())


@contextlib.contextmanager
def kept_by_graphs():
    """Gives a function: the bytes that graphs keep for a backward pass at that moment, each storage once."""

    class Kept:
        def __init__(self, tensor):
            self.tensor = tensor

    alive = weakref.WeakSet()

    def pack(tensor):
        kept = Kept(tensor.detach())  # the tensor itself would keep its own node alive
        alive.add(kept)
        return kept

    def now():
        gc.collect()
        storages = [each.tensor.untyped_storage() for each in alive]
        return sum({each.data_ptr(): each.nbytes() for each in storages}.values())

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        yield now


class Metered(list):
    """A loader that measures before each batch what the loop around it keeps."""

    def __init__(self, batches, measure):
        super().__init__(batches)
        self.measure, self.levels = measure, []

    def __iter__(self):
        for each in super().__iter__():
            self.levels.append(self.measure())
            yield each

    def growth(self, warm_up=2):
        """What each batch adds, once warm: the smallest and the largest."""
        return smallest_and_largest_rise(self.levels, warm_up)


def smallest_and_largest_rise(levels, warm_up):
    added = [b - a for a, b in zip(levels[warm_up - 1 :], levels[warm_up:])]
    return min(added), max(added)


def graph_nodes(*tensors):
    """Nodes of the autograd graph that the tensors keep alive."""
    seen, open_ = set(), [each.grad_fn for each in tensors if isinstance(each, torch.Tensor) and each.grad_fn]
    while open_:
        node = open_.pop()
        if node not in seen:
            seen.add(node)
            open_.extend(each for each, _ in node.next_functions if each is not None)
    return len(seen)


def live_bytes(device='cpu'):
    """Bytes of all tensors on the device that Python can reach, each storage once."""
    gc.collect()
    storages = {}
    for each in gc.get_objects():
        if issubclass(type(each), torch.Tensor) and each.device.type == device:
            storage = each.untyped_storage()
            storages[storage._cdata] = storage.nbytes()
    return sum(storages.values())


def growth(step, steps=6, warm_up=2):
    """Bytes of live tensors added per step, once warm: the smallest and the largest of the steps."""
    levels = []
    for at in range(steps):
        step(at)
        levels.append(live_bytes())
    return smallest_and_largest_rise(levels, warm_up)


def operations(work, on=None):
    """How often each operation runs in `work`: `aten._to_copy` is a copy to another device or dtype.

    With `on='cuda'` the tensors are fake ones, which have devices and shapes and no numbers.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode

    counted = Counter()

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            counted[str(operation.overloadpacket)] += 1
            return operation(*args, **(kwargs or {}))

    with FakeTensorMode() if on == 'cuda' else contextlib.nullcontext(), Counting():
        work()
    return counted


def peak_bytes(work):
    """Highest number of bytes that the CPU allocator handed out during `work`, above what was there before."""
    from torch._C._profiler import _EventType

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        result = work()
    del result
    totals, now, open_ = [0], 0, list(profile.profiler.kineto_results.experimental_event_tree())
    events = []
    while open_:
        event = open_.pop()
        open_.extend(event.children)
        if event.tag == _EventType.Allocation and event.extra_fields.device.type == 'cpu':
            events.append((event.start_time_ns, event.extra_fields.alloc_size))
    for _, size in sorted(events, key=lambda each: each[0]):
        now += size
        totals.append(now)
    return max(totals)
