"""What a `proof.py` says. It stands beside the `input.py` and `output.py` of a fixture and executes both:

    from memfix_proof import claim, identical, run_both, saved_bytes

    def evaluate(program):                      # the same work for both programs, from the same seed
        model = program.Net()
        result = program.validate(model, batches())
        return result, saved_bytes(lambda: program.validate(model, batches()))

    before, after = run_both(evaluate)
    identical(before[0], after[0])              # at the numerics label of the fixture
    claim('bytes that autograd keeps', before[1], after[1], becomes=0)

A proof must compare at the label that `findings.json` records, and must claim an effect; `test/proof/run.py` fails one
that does not. A negative proof stands beside a `keep-` case: `naive.py` is the rewrite that memfix refuses to make,
and `fails` shows what it breaks.
"""

import contextlib
import importlib.util
import io
import math
import os
import random
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import torch
from memfix_measures import (  # noqa: F401 - a proof says them from here
    Metered,
    graph_nodes,
    growth,
    kept_by_graphs,
    live_bytes,
    operations,
    peak_bytes,
    saved_bytes,
)

SEED = 20


class Record:
    """What one proof has shown so far."""

    def __init__(self, folder: Path, changed: bool):
        self.folder = folder
        self.changed = changed
        self.compared: set[str] = set()
        self.claims: list[str] = []
        self.has_effect = False


_record: Record


def begin(folder: Path, changed: bool) -> Record:
    """`changed=False` runs the unchanged program in place of the changed one: a proof has to notice."""
    global _record
    _record = Record(folder, changed)
    return _record


# --- running the programs -------------------------------------------------------------------------------------------


def run_both(work, seed=SEED):
    """`work(program)` with `input.py`, then with `output.py`: a pair of results."""
    return run_program('input.py', work, seed), run_program('output.py', work, seed)


def run_naive(work, seed=SEED):
    """`work(program)` with `input.py`, then with `naive.py`. What the naive one raises is its result."""
    before = run_program('input.py', work, seed)
    try:
        return before, run_program('naive.py', work, seed)
    except Exception as error:  # noqa: BLE001 - the failure is what is to be shown
        return before, error


def run_program(name, work, seed=SEED):
    """One program of the case, loaded afresh as the module `program`, then given to `work`."""
    reseed(seed)
    name = name if _record.changed else 'input.py'
    overlay = ['project-output', 'project'] if name == 'output.py' else ['project']
    paths = [str(_record.folder / each) for each in overlay if (_record.folder / each).is_dir()]
    there = set(sys.modules)
    sys.path[:0] = paths
    try:
        program = load(_record.folder / name)
        reseed(seed)
        return work(program)
    finally:
        del sys.path[: len(paths)]
        for module in set(sys.modules) - there:
            if from_the_case(sys.modules[module]):
                del sys.modules[module]
        sys.modules.pop('program', None)


def load(path: Path):
    spec = importlib.util.spec_from_file_location('program', path)
    program = importlib.util.module_from_spec(spec)
    sys.modules['program'] = program  # pickling finds its classes there
    spec.loader.exec_module(program)
    return program


def from_the_case(module) -> bool:
    file = getattr(module, '__file__', None)
    return file is not None and Path(file).is_relative_to(_record.folder)


def reseed(seed=SEED):
    random.seed(seed)
    torch.manual_seed(seed)
    if 'numpy' in sys.modules:
        sys.modules['numpy'].random.seed(seed)


@contextlib.contextmanager
def working_folder():
    """A temporary working directory, for programs that write."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(here)


@contextlib.contextmanager
def project_of(name):
    """A working folder with the other files of the project, as they are beside that program."""
    name = name if _record.changed else 'input.py'
    parts = [_record.folder / each for each in ('project', 'project-output')]
    with working_folder() as folder:
        for part in parts if name == 'output.py' else parts[:1]:
            shutil.copytree(part, folder, dirs_exist_ok=True)
        yield folder


# --- equality -------------------------------------------------------------------------------------------------------


def identical(before, after, what='results'):
    """Equal to the bit, all the way down: numbers, tensors (also dtype, shape and whether a gradient is asked for)."""
    difference = first_difference(before, after, what, same_bits)
    assert difference is None, f'not bit-identical: {difference}'
    _record.compared.add('bit-identical')


def close(before, after, rtol, atol=0.0, what='results'):
    """Equal up to rounding, at a tolerance that the proof states."""

    def near(a, b):
        if isinstance(a, torch.Tensor):
            return same_kind(a, b) and torch.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        return math.isclose(a, b, rel_tol=rtol, abs_tol=atol) or (a != a and b != b)

    difference = first_difference(before, after, what, near)
    assert difference is None, f'not within rtol={rtol}, atol={atol}: {difference}'
    _record.compared.add('rounding')


def differs(before, after, what):
    """States exactly what a fix that changes training changes."""
    assert first_difference(before, after, what, same_bits) is not None, f'{what}: expected to differ, equal'
    _record.compared.add('differs')
    _shown(f'{what} differs, as stated')


def decreases(losses, what='loss'):
    """Training still works: the mean of the last third is below that of the first."""
    losses = [float(each) for each in losses]
    assert len(losses) >= 6, f'{what}: only {len(losses)} values'
    third = len(losses) // 3
    first, last = sum(losses[:third]) / third, sum(losses[-third:]) / third
    assert last < first, f'{what} does not decrease: {first:.6g} to {last:.6g}'
    _record.compared.add('decreases')


def fails(naive, expected, what):
    """A negative proof: `expected` is true, or an exception type that `naive` (from `run_naive`) must be of."""
    if isinstance(expected, type) and issubclass(expected, BaseException):
        assert isinstance(naive, expected), f'{what}: expected {expected.__name__}, got {naive!r}'
    else:
        assert not isinstance(naive, BaseException), f'{what}: the naive rewrite raised {naive!r}'
        assert expected, f'{what}: the naive rewrite is harmless here'
    _record.compared.add('naive fails')
    _shown(f'the naive rewrite fails: {what}')


def first_difference(a, b, path, same):
    if isinstance(a, torch.nn.Module) and isinstance(b, torch.nn.Module):
        return first_difference(state_of(a), state_of(b), path, same)
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return None if same(a, b) else f'{path}: {brief(a)} and {brief(b)}'
    if isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b):
            return f'{path}: keys {list(a)} and {list(b)}'
        pairs = ((f'{path}[{key!r}]', a[key], b[key]) for key in a)
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if type(a) is not type(b) or len(a) != len(b):
            return f'{path}: {type(a).__name__} of {len(a)} and {type(b).__name__} of {len(b)}'
        pairs = ((f'{path}[{at}]', *both) for at, both in enumerate(zip(a, b)))
    elif isinstance(a, (int, float)) and isinstance(b, (int, float)) and type(a) is type(b):
        return None if same(a, b) else f'{path}: {a!r} and {b!r}'
    else:
        return None if type(a) is type(b) and a == b else f'{path}: {a!r} and {b!r}'
    return next((found for each in pairs if (found := first_difference(each[1], each[2], each[0], same))), None)


def same_kind(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.device == b.device and a.requires_grad == b.requires_grad


def same_bits(a, b):
    if not isinstance(a, torch.Tensor):
        return a == b or (a != a and b != b)
    if not same_kind(a, b):
        return False
    return a.is_meta or torch.equal(a.nan_to_num(0.0), b.nan_to_num(0.0)) and torch.equal(a.isnan(), b.isnan())


def brief(tensor):
    shown = f'{tensor.flatten()[:4].tolist()}…' if not tensor.is_meta else 'meta'
    return f'{shown} ({tensor.dtype}, {tuple(tensor.shape)}, requires_grad={tensor.requires_grad})'


def state_of(module):
    """Keys and values of `state_dict()`, and the gradients, as copies that later steps do not change."""
    grads = {name: each.grad for name, each in module.named_parameters()}
    return {
        'state': {name: each.detach().clone() for name, each in module.state_dict().items()},
        'gradients': {name: None if each is None else each.detach().clone() for name, each in grads.items()},
    }


# --- effects, measured without a GPU --------------------------------------------------------------------------------


def claim(what, before, after, becomes=None):
    """The effect: smaller after than before, or exactly `becomes` where it was something else before."""
    if becomes is None:
        assert after < before, f'{what}: {before} before, {after} after: no smaller'
    else:
        assert before != becomes, f'{what}: {before} before already'
        assert after == becomes, f'{what}: {before} before, {after} after, {becomes} claimed'
    _shown(f'{what}: {before} before, {after} after')


def _shown(effect):
    _record.has_effect = True
    _record.claims.append(effect)


def unchanged(what, before, after):
    """An effect that the page says is nil, shown to be nil."""
    assert before == after, f'{what}: {before} before, {after} after, claimed to be the same'
    _record.claims.append(f'{what}: {before} before and after')


@contextlib.contextmanager
def calls(owner, *names):
    """Counts calls of `owner.<name>`: `with calls(torch.Tensor, 'item') as counted: …; counted['item']`."""
    counted = dict.fromkeys(names, 0)
    originals = {name: owner.__dict__.get(name, getattr(owner, name)) for name in names}
    inherited = [name for name in names if name not in owner.__dict__]

    def counting(name, original):
        def call(*args, **kwargs):
            counted[name] += 1
            return original(*args, **kwargs)

        return call

    for name in names:
        setattr(owner, name, counting(name, getattr(owner, name)))
    try:
        yield counted
    finally:
        for name, original in originals.items():
            delattr(owner, name) if name in inherited else setattr(owner, name, original)


def warned(work, words=''):
    """The warnings that `work` gives, those with `words` in them, each as text."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter('always')
        work()
    return [str(each.message) for each in given if words in str(each.message)]


def printed(work):
    """What `work` prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        work()
    return out.getvalue()


# --- what else must still work --------------------------------------------------------------------------------------


def two_processes(work, *args, world=2):
    """`work(rank, *args)` in the processes of one gloo group; all results. `work` stands at the top of `proof.py`."""
    context = torch.multiprocessing.get_context('fork')
    with tempfile.TemporaryDirectory() as folder:
        queue = context.SimpleQueue()
        members = [
            context.Process(target=_member, args=(rank, world, f'file://{folder}/meet', queue, work, args))
            for rank in range(world)
        ]
        for each in members:
            each.start()
        answers = dict(queue.get() for _ in members)
        for each in members:
            each.join()
    for rank, answer in answers.items():
        assert not isinstance(answer, str), f'rank {rank}: {answer}'
    return [torch.load(io.BytesIO(answers[rank]), weights_only=False) for rank in sorted(answers)]


def _member(rank, world, meeting, queue, work, args):
    import traceback

    import torch.distributed as dist

    try:
        torch.set_num_threads(1)
        dist.init_process_group('gloo', init_method=meeting, rank=rank, world_size=world)
        reseed()
        out = io.BytesIO()
        torch.save(work(rank, *args), out)
        queue.put((rank, out.getvalue()))
        dist.destroy_process_group()
    except BaseException:  # noqa: BLE001 - told to the parent, which fails with it
        queue.put((rank, traceback.format_exc()))


def compiled(function):
    """`torch.compile` with the backend that needs no C++ compiler, in one graph."""
    return torch.compile(function, backend='aot_eager')


@contextlib.contextmanager
def as_if_cuda():
    """Code that names CUDA runs on the CPU: moves stay, and autocast and GradScaler believe that there is a GPU."""
    from unittest.mock import patch

    def stays(self, *_args, **_kwargs):
        return self

    common = 'torch.cuda.amp.common.amp_definitely_not_available'
    with (
        patch(common, lambda: False),
        patch('torch.cuda.is_available', lambda: True),
        patch('torch.cuda.is_bf16_supported', lambda *_: True),
        patch.object(torch.Tensor, 'cuda', stays),
        patch.object(torch.nn.Module, 'cuda', stays),
    ):
        yield


def cuda_autocast():
    """The autocast region that stands around the caller: whether it is on, its dtype, and its cache."""
    return torch.is_autocast_enabled('cuda'), str(torch.get_autocast_dtype('cuda')), torch.is_autocast_cache_enabled()


def tiny_llama(**settings):
    """A causal language model of a few thousand parameters, with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    small = {'vocab_size': 64, 'hidden_size': 32, 'intermediate_size': 64, 'num_hidden_layers': 2}
    return LlamaForCausalLM(LlamaConfig(**{**small, 'num_attention_heads': 4, **settings}))


def token_rows(rows=8, length=12, vocabulary=64):
    """Training data for it: what a Trainer takes."""
    ids = torch.randint(0, vocabulary, (rows, length))
    return [{'input_ids': each, 'labels': each} for each in ids]


@contextlib.contextmanager
def pretrained(model, name):
    """A working folder in which `from_pretrained(name)` finds `model`, so that nothing is downloaded."""
    with working_folder() as folder:
        model.save_pretrained(folder / name)
        yield folder


class SavedOnGpu:
    """As if checkpoints came from a GPU: storages are saved as `cuda:0`, and `restored` counts those brought back there."""

    def __init__(self):
        self.restored = 0
        torch.serialization.register_package(0, lambda storage: 'cuda:0', self.restore)

    def restore(self, storage, location):
        if location == 'cuda:0':
            self.restored += 1
            return storage
