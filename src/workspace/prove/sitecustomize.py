"""What `memfix prove` measures a command with.

Python imports this at its start, from a folder that memfix puts on PYTHONPATH, in place of a `sitecustomize` of
the user's own, which it then runs. Each process writes one record into the folder that MEMFIX_PROVE_RECORDS names:
at its end, and about every second while it steps, so that a process that is killed leaves one too.

It imports nothing that the command does not, draws no random number, and computes with no tensor. A part that
fails is named under `errors` in the record and leaves the command alone. What slows a command down is left to
a run of its own (MEMFIX_PROVE_COUNT): the bytes that autograd keeps, synchronisations, and the losses. With
MEMFIX_PROVE_DIGEST it also reads gradients before each step and the trained state at the end; with MEMFIX_PROVE_LINES
it notes which lines of some files run. Only with MEMFIX_PROVE_DETERMINISTIC, which the user asks for, it sets seeds and
deterministic kernels.
"""

import atexit
import os
import sys
import time

SAMPLES = 256
FILES = 10000
SECONDS_BETWEEN_RECORDS = 1.0
SYNC_WARNING = "called a synchronizing CUDA operation"


class Thinned:
    """At most so many items of a long run: all at first, then every second, every fourth, and so on."""

    def __init__(self):
        self.items = []
        self.stride = 1
        self.seen = 0

    def wants(self):
        self.seen += 1
        return (self.seen - 1) % self.stride == 0

    def add(self, item):
        self.items.append(item)
        if len(self.items) >= 2 * SAMPLES:
            self.items = self.items[::2]
            self.stride *= 2


class Autograd:
    """The bytes that autograd keeps for backward passes, parameters apart; a storage counts once."""

    def __init__(self):
        self.live = 0
        self.peak = 0
        self.tensors = 0
        self.uncounted = 0
        self.held = {}

    def pack(self, tensor):
        return Kept(self, tensor)

    def unpack(self, kept):
        return kept.tensor

    def hold(self, key, size):
        count = self.held.get(key, (0, size))[0]
        self.held[key] = (count + 1, size)
        if count == 0:
            self.live += size
            self.peak = max(self.peak, self.live)

    def release(self, key):
        count, size = self.held[key]
        if count == 1:
            del self.held[key]
            self.live -= size
        else:
            self.held[key] = (count - 1, size)


class Kept:
    __slots__ = ("autograd", "tensor", "key")

    def __init__(self, autograd, tensor):
        self.autograd = autograd
        # Detached: an output that kept itself alive through its own graph would never be freed.
        self.tensor = tensor.detach()
        self.key = None
        try:
            if tensor.is_leaf and tensor.requires_grad:
                return
            storage = tensor.untyped_storage()
            key = (str(tensor.device), storage.data_ptr())
            autograd.hold(key, storage.nbytes())
            autograd.tensors += 1
            self.key = key
        except Exception:
            autograd.uncounted += 1

    def __del__(self):
        if self.key is not None:
            self.autograd.release(self.key)


class Recorder:
    def __init__(self, folder, counts, digests=False):
        self.folder = folder
        self.counts = counts
        self.digests = digests
        self.torch = None
        self.autograd = None
        self.syncs = None
        self.filter = None
        self.cwd = os.getcwd()
        self.opened = set()
        self.begin(False)

    def begin(self, forked):
        """In a forked child everything starts anew but what is installed in torch."""
        self.started = time.time()
        self.forked = forked
        self.written = 0.0
        self.steps = 0
        self.stepped = set()
        self.samples = Thinned()
        self.losses = Thinned()
        self.gradients = Thinned()
        self.optimizers = {}
        self.owners = []
        self.lines = {}
        self.peaks = {}
        self.used = set()
        self.errors = {}

    def guarded(self, part, work, *args, **kwargs):
        try:
            return work(*args, **kwargs)
        except Exception as error:
            self.errors.setdefault(part, "%s: %s" % (type(error).__name__, error))
            return None

    # When torch is there.

    def meet(self, torch):
        self.torch = torch
        if os.environ.get("MEMFIX_PROVE_DETERMINISTIC") == "1":
            self.guarded("determinism", self.settle_chance)
        self.guarded("steps", self.watch_steps)
        self.guarded("peaks", self.watch_resets)
        if self.counts:
            self.guarded("autograd", self.count_autograd)
            self.guarded("syncs", self.count_syncs)
            self.guarded("losses", self.note_losses)
        if self.digests:
            self.guarded("gradients", self.watch_gradients)

    def settle_chance(self):
        """Only where it was asked for: seeds, and kernels that give the same each time. A seed that the command sets comes later."""
        import random

        random.seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)
        self.torch.manual_seed(0)
        self.torch.use_deterministic_algorithms(True, warn_only=True)
        self.torch.backends.cudnn.benchmark = False
        # Trying out kernels finds another one each time, whoever asks for it.
        type(sys.modules["torch.backends.cudnn"]).benchmark = property(lambda module: False, lambda module, wanted: None)

    def watch_steps(self):
        from torch.optim import optimizer

        if not hasattr(optimizer, "register_optimizer_step_post_hook"):
            raise RuntimeError("torch %s has no hook for optimizer steps" % self.torch.__version__)
        optimizer.register_optimizer_step_post_hook(self.after_step)

    def after_step(self, optimizer, args, kwargs):
        self.guarded("steps", self.note_step, optimizer)

    def note_step(self, optimizer):
        """Several optimizers take a step together; a new one begins with whoever comes round again."""
        if self.steps > 0 and id(optimizer) not in self.stepped:
            self.stepped.add(id(optimizer))
            return
        self.stepped = {id(optimizer)}
        self.steps += 1
        if self.syncs is not None:
            self.listen()
        if self.samples.wants():
            self.samples.add(self.sample())
        now = time.time()
        # A forked child leaves without a word, so it speaks at every step.
        if self.forked or now - self.written >= SECONDS_BETWEEN_RECORDS:
            self.write(False)
            self.written = now

    def sample(self):
        return {
            "step": self.steps,
            "seconds": time.time() - self.started,
            "host": host_memory(),
            "devices": self.allocated(),
            "autograd": None if self.autograd is None else self.autograd.live,
        }

    def allocated(self):
        """By index; asking costs time, so devices that nothing was ever put on are asked only now and then."""
        cuda, indices = self.torch.cuda, self.devices()
        if self.samples.seen % 32 == 1:
            self.used = {index for index in indices if cuda.memory_reserved(index) > 0}
        return [cuda.memory_allocated(index) if index in self.used else None for index in indices]

    def devices(self):
        """Of those that the command itself has woken up."""
        cuda = self.torch.cuda
        return range(cuda.device_count()) if cuda.is_initialized() else range(0)

    def watch_resets(self):
        """Whoever resets the peaks must not lower ours."""
        wrap(self.torch.cuda, "reset_peak_memory_stats", self.note_peaks)
        wrap(self.torch.cuda.memory, "reset_peak_memory_stats", self.note_peaks)
        if hasattr(getattr(self.torch, "accelerator", None), "reset_peak_memory_stats"):
            wrap(self.torch.accelerator, "reset_peak_memory_stats", self.note_peaks)

    def note_peaks(self, *args, **kwargs):
        cuda = self.torch.cuda
        for index in self.devices():
            allocated, reserved = self.peaks.get(index, (0, 0))
            self.peaks[index] = (
                max(allocated, cuda.max_memory_allocated(index)),
                max(reserved, cuda.max_memory_reserved(index)),
            )

    def count_autograd(self):
        self.autograd = Autograd()
        hooks = self.torch.autograd.graph.saved_tensors_hooks(self.autograd.pack, self.autograd.unpack)
        hooks.__enter__()
        self.torch.cuda._lazy_call(lambda: self.guarded("autograd", self.leave_autograd, hooks))

    def leave_autograd(self, hooks):
        """A GPU's allocator says more, also of compiled code. Below hooks of the user's, ours have to stay."""
        top = self.torch._C._autograd._top_saved_tensors_default_hooks(False)
        if top is not None and top[0] == self.autograd.pack:
            hooks.__exit__(None, None, None)
            self.autograd = None

    def count_syncs(self):
        import warnings

        if not hasattr(self.torch._C, "_cuda_set_sync_debug_mode"):
            return
        show = warnings._showwarnmsg

        def shown(message):
            if str(message.message).startswith(SYNC_WARNING):
                self.syncs = (self.syncs or 0) + 1
            else:
                show(message)

        def switch_on():
            self.syncs = self.syncs or 0
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.torch._C._cuda_set_sync_debug_mode(1)
            warnings._showwarnmsg = shown
            self.listen()

        self.torch.cuda._lazy_call(lambda: self.guarded("syncs", switch_on))

    def listen(self):
        """Whoever silences warnings must not silence these: they are not shown anyway."""
        import warnings

        if not warnings.filters or warnings.filters[0] is not self.filter:
            warnings.filterwarnings("always", message=SYNC_WARNING)
            self.filter = warnings.filters[0]

    def note_losses(self):
        wrap(self.torch.autograd, "backward", self.before_backward)

    def before_backward(self, tensors=(), *args, **kwargs):
        single = isinstance(tensors, self.torch.Tensor)
        for tensor in (tensors,) if single else tensors:
            if tensor.numel() == 1 and self.losses.wants():
                self.losses.add(self.value_of(tensor))

    def value_of(self, tensor):
        """Reading a value off the GPU synchronises; ours is not to be counted."""
        counted = self.syncs
        value = float(tensor.detach())
        self.syncs = counted
        return value

    # What is trained, read in a run that is not timed.

    def watch_gradients(self):
        from torch.optim import optimizer

        optimizer.register_optimizer_step_pre_hook(self.before_step)

    def before_step(self, optimizer, args, kwargs):
        if id(optimizer) not in self.optimizers:
            # Held, so that what a function has trained is still there when the process ends.
            self.optimizers[id(optimizer)] = optimizer
            self.guarded("state", self.find_owners, optimizer)
        if self.gradients.wants():
            self.guarded("gradients", self.note_gradients, optimizer)

    def note_gradients(self, optimizer):
        total = 0.0
        for parameter in trained_by(optimizer):
            if parameter.grad is not None:
                total += self.norm_of(parameter.grad) ** 2
        self.gradients.add(total**0.5)

    def norm_of(self, tensor):
        torch, counted = self.torch, self.syncs
        with torch.no_grad():
            if tensor.is_sparse:
                tensor = tensor.coalesce().values()
            if tensor.is_complex():
                tensor = torch.view_as_real(tensor)
            norm = float(torch.linalg.vector_norm(tensor, dtype=torch.float64))
        self.syncs = counted
        return norm

    def find_owners(self, optimizer):
        """The outermost modules that hold what the optimizer trains, in the order of its parameters."""
        import gc

        module_class = self.torch.nn.Module
        modules = [each for each in gc.get_objects() if issubclass(type(each), module_class)]
        inner = {id(child) for module in modules for child in module._modules.values()}
        places = {id(parameter): index for index, parameter in enumerate(trained_by(optimizer))}
        found = []
        for module in modules:
            known = [places[id(each)] for each in module.parameters() if id(each) in places]
            if known and id(module) not in inner:
                found.append((min(known), type(module).__name__, id(module), module))
        held = {id(module) for module in self.owners}
        self.owners.extend(each[3] for each in sorted(found, key=lambda each: each[:2]) if id(each[3]) not in held)

    def state(self):
        """Norms of all that is trained and of the buffers beside it, and one digest of their bytes."""
        import hashlib

        if self.torch is None or not self.optimizers:
            return None
        tensors = [each for owner in self.owners for each in (*owner.parameters(), *owner.buffers())]
        seen = {id(tensor) for tensor in tensors}
        for optimizer in self.optimizers.values():
            tensors.extend(each for each in trained_by(optimizer) if id(each) not in seen)
        digest = hashlib.sha256()
        norms = []
        for tensor in tensors:
            digest.update(("%s %s" % (tensor.dtype, tuple(tensor.shape))).encode())
            flat = tensor.detach().cpu().contiguous().reshape(-1)
            if flat.numel() > 0:
                digest.update(flat.view(self.torch.uint8).numpy().tobytes())
            norms.append(self.norm_of(flat if flat.is_floating_point() or flat.is_complex() else flat.double()))
        return {"norms": norms, "digest": digest.hexdigest()}

    # The record.

    def write(self, final):
        import json

        record = self.record(final)
        name = "%d-%d.json" % (os.getpid(), int(self.started * 1e6))
        path = os.path.join(self.folder, name)
        with open(path + ".part", "w") as file:
            json.dump(jsonable(record), file)
        os.replace(path + ".part", path)

    def record(self, final):
        torch = self.torch
        if torch is not None:
            self.guarded("peaks", self.note_peaks)
        return {
            "version": 1,
            "pid": os.getpid(),
            "forked": self.forked,
            "argv": list(getattr(sys, "argv", [])),
            "rank": number_in("RANK"),
            "world": number_in("WORLD_SIZE"),
            "python": "%d.%d.%d" % sys.version_info[:3],
            "platform": sys.platform,
            "cpu": self.guarded("cpu", cpu_name),
            "transformers": self.guarded("transformers", version_of, "transformers"),
            "seconds": time.time() - self.started,
            "final": final,
            "host": self.guarded("host memory", host_peak),
            "torch": None if torch is None else str(torch.__version__),
            "devices": self.guarded("devices", self.device_records) or [],
            "steps": self.steps,
            "samples": self.samples.items,
            "autograd": None
            if self.autograd is None
            else {
                "peak": self.autograd.peak,
                "tensors": self.autograd.tensors,
                "uncounted": self.autograd.uncounted,
            },
            "syncs": self.syncs,
            "losses": {"values": self.losses.items, "seen": self.losses.seen, "stride": self.losses.stride},
            "gradients": self.gradients.items,
            "state": self.guarded("state", self.state) if final else None,
            "lines": {path: sorted(lines) for path, lines in list(self.lines.items())},
            "strayed": self.guarded("imports", strayed_modules) or [],
            "loaded": self.guarded("imports", self.loaded_files) or [],
            "errors": self.errors,
        }

    def loaded_files(self):
        """Python files of the copy that this process imported, ran, or at least opened or was told of."""
        copy = os.environ.get("MEMFIX_PROVE_COPY")
        if not copy:
            return []
        copy = os.path.realpath(copy)
        words = [os.path.join(self.cwd, word) for word in getattr(sys, "argv", []) if word.endswith(".py")]
        real = {os.path.realpath(file) for file in [*module_files(), *self.opened, *words]}
        return sorted(file[len(copy) + 1 :].replace(os.sep, "/") for file in real if inside(file, copy))[:FILES]

    def note_open(self, event, args):
        if event == "open" and isinstance(args[0], str) and args[0].endswith(".py"):
            self.opened.add(os.path.abspath(args[0]))

    def device_records(self):
        return [
            {
                "index": index,
                "name": self.torch.cuda.get_device_name(index),
                "id": device_id(self.torch, index),
                "allocated": allocated,
                "reserved": reserved,
            }
            for index, (allocated, reserved) in sorted(self.peaks.items())
            if reserved > 0
        ]

    def finish(self):
        try:
            self.write(True)
        except Exception as error:
            sys.stderr.write("memfix prove: no record was written: %s\n" % error)


def trained_by(optimizer):
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


class LineTracer:
    """Which lines of some files of the copy run, by `sys.monitoring`, before Python 3.12 by `sys.settrace`."""

    def __init__(self, recorder, copy, paths):
        self.recorder = recorder
        self.files = {os.path.realpath(os.path.join(copy, path)): path for path in paths}
        self.known = {}

    def start(self):
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is None:
            import threading

            threading.settrace(self.trace)
            sys.settrace(self.trace)
            return
        tool, events = monitoring.COVERAGE_ID, monitoring.events
        monitoring.use_tool_id(tool, "memfix prove")

        def entered(code, offset):
            if self.path_of(code) is not None:
                monitoring.set_local_events(tool, code, events.LINE)
            return monitoring.DISABLE

        def ran(code, line):
            self.note(self.path_of(code), line)
            return monitoring.DISABLE

        monitoring.register_callback(tool, events.PY_START, entered)
        monitoring.register_callback(tool, events.LINE, ran)
        monitoring.set_events(tool, events.PY_START)

    def path_of(self, code):
        name = code.co_filename
        if name not in self.known:
            self.known[name] = self.files.get(os.path.realpath(name))
        return self.known[name]

    def note(self, path, line):
        self.recorder.lines.setdefault(path, set()).add(line)

    def trace(self, frame, event, arg):
        return self.traced if self.path_of(frame.f_code) is not None else None

    def traced(self, frame, event, arg):
        if event == "line":
            self.note(self.path_of(frame.f_code), frame.f_lineno)
        return self.traced


def speak_at_end():
    """A worker of multiprocessing, such as those of a data loader, leaves without `atexit`."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(recorder, lambda each: util.Finalize(None, each.finish, exitpriority=0))


def wrap(place, name, before):
    import functools

    original = getattr(place, name)

    @functools.wraps(original)
    def wrapper(*args, **kwargs):
        recorder.guarded(name, before, *args, **kwargs)
        return original(*args, **kwargs)

    setattr(place, name, wrapper)


def device_id(torch, index):
    """Ranks that see one GPU each all call it 0."""
    uuid = getattr(torch.cuda.get_device_properties(index), "uuid", None)
    return str(index) if uuid is None else str(uuid)


def number_in(name):
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else None


def cpu_name():
    """What the system calls it, where it says so; else its kind."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return os.uname().machine if hasattr(os, "uname") else None


def version_of(name):
    """Of a package that the command has imported."""
    version = getattr(sys.modules.get(name), "__version__", None)
    return None if version is None else str(version)


def host_memory():
    """Resident now, where the system says so."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def host_peak():
    """Not `ru_maxrss` where there is better: on Linux a new program inherits that from the one that started it."""
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def jsonable(value):
    """JSON has no word for `nan`; these are what JavaScript calls them."""
    if isinstance(value, float) and value - value != 0:
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    return [jsonable(item) for item in value] if isinstance(value, (list, tuple)) else value


class TorchFinder:
    """Hears of `import torch`, lets it happen, and is gone."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        loader = None if spec is None else spec.loader
        if not hasattr(loader, "exec_module"):
            return spec
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            recorder.guarded("torch", recorder.meet, module)

        loader.exec_module = exec_module
        return spec


# The command runs in a copy of a tree; what an editable install or PYTHONPATH takes from the tree comes from the copy.


def inside(path, folder):
    return path == folder or path.startswith(folder + os.sep)


def tree_and_copy():
    tree, copy = os.environ.get("MEMFIX_PROVE_TREE"), os.environ.get("MEMFIX_PROVE_COPY")
    return (tree, copy) if tree and copy else None


def from_copy(path):
    places = tree_and_copy()
    if places is None or not isinstance(path, str):
        return path
    tree, copy = places
    real = os.path.realpath(path)
    if not inside(real, tree) or inside(real, os.path.realpath(sys.prefix)):
        return path
    moved = copy + real[len(tree) :]
    return moved if os.path.exists(moved) else path


def look_into_copy():
    if tree_and_copy() is None:
        return
    sys.path[:] = [from_copy(path) if path else path for path in sys.path]
    for finder in sys.meta_path:
        mapping = getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", None)
        if isinstance(mapping, dict):
            mapping.update({name: from_copy(path) for name, path in mapping.items()})


def strayed_modules():
    """Files of the tree itself that were imported all the same: they were not fixed."""
    places = tree_and_copy()
    if places is None:
        return []
    real = {os.path.realpath(file) for file in module_files()}
    prefix = os.path.realpath(sys.prefix)
    return sorted(
        file[len(places[0]) + 1 :]
        for file in real
        if inside(file, places[0]) and not inside(file, prefix) and "site-packages" not in file
    )[:20]


def module_files():
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return [file for file in files if isinstance(file, str)]


def run_hidden_sitecustomize():
    """The user's own, which this file stands in front of."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_folder = os.environ.get("MEMFIX_PROVE_RECORDS")
if _folder:
    recorder = Recorder(
        _folder,
        os.environ.get("MEMFIX_PROVE_COUNT") == "1",
        os.environ.get("MEMFIX_PROVE_DIGEST") == "1",
    )
    recorder.guarded("imports", look_into_copy)
    sys.meta_path.insert(0, TorchFinder())
    if recorder.counts and hasattr(sys, "addaudithook"):
        sys.addaudithook(recorder.note_open)
    atexit.register(recorder.finish)
    _lines = os.environ.get("MEMFIX_PROVE_LINES")
    if _lines:
        _tracer = LineTracer(recorder, os.environ.get("MEMFIX_PROVE_COPY", ""), _lines.split("\n"))
        recorder.guarded("lines", _tracer.start)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: recorder.guarded("lines", speak_at_end))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: recorder.begin(True))
run_hidden_sitecustomize()
