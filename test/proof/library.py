"""Holds every row of src/library to the packages themselves: `npm run prove -- --library` writes the rows as JSON and runs this.

A row is called on small operands that require gradients. What it says and what happens must be the same; a row that says
nothing about something is not asked. What cannot be tried is counted, by reason.
"""

import builtins
import collections
import contextlib
import datetime
import faulthandler
import importlib
import importlib.util
import inspect
import io
import itertools
import json
import logging
import os
import pkgutil
import queue
import sys
import warnings

# Nothing is asked of a hub or of a device.
os.environ.update({"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "WANDB_MODE": "disabled"})

import numpy
import pandas
import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)
# A call that never comes back says where it is.
faulthandler.dump_traceback_later(240, exit=True)

TYPES = {
    "Tensor": torch.Tensor,
    "Module": torch.nn.Module,
    "list": list,
    "dict": dict,
    "set": set,
    "str": str,
    "collections.deque": collections.deque,
    "queue.Queue": queue.Queue,
    "datetime.datetime": datetime.datetime,
    "numpy.ndarray": numpy.ndarray,
    "logging.Logger": logging.Logger,
    "io.TextIOBase": io.TextIOBase,
}
OPERATIONS = ("Tensor.", "torch.", "torch.nn.functional.", "torch.linalg.")


class Wrong(Exception):
    """A row that says something else than the package does."""


class Untried(Exception):
    """A row whose words cannot be tried here; the message is the reason."""


#: The tensors that were made, in order: the first of a whole call is its operand.
RECENT = []


def tensor(shape=(4, 4), whole=False):
    """Distinct numbers in (0, 1), the result of an operation on a leaf; or small whole ones."""
    size = 1
    for each in shape:
        size *= each
    if whole:
        return (torch.arange(size) % 3 + 1).reshape(shape)
    numbers = torch.arange(size, dtype=torch.float32) * 0.037 % 0.8 + 0.1
    RECENT.append(numbers.reshape(shape).clone().requires_grad_() * 1)
    return RECENT[-1]


def operands(whole=False, shape=(4, 4)):
    """What may come after the first operand; the first that is taken is used."""
    other = lambda given=shape: tensor(given, whole)  # noqa: E731
    index = torch.tensor([0, 1])
    mask = torch.ones(shape, dtype=torch.bool)
    full = torch.zeros(shape or (1,), dtype=torch.long)
    yield from [(), (0,), (2,), (1, 0), (other(),), (other((4,)), other((4,))), (other(), other())]
    yield from [(0, index), (0, full), (0, index, other((2, 4))), (0, full, other()), (0, 0, 1), (mask,)]
    yield from [(mask, 0.5), (mask, other()), ((2, 8),), (torch.float64,), (0.1, 0.5), (other(), 0.5)]
    yield from [(other((4,)),), ((0, 1),), ((1, 1),), (0, (2, 2)), (other((4, 4, 4)),), (0, torch.zeros((2, 4), dtype=torch.long))]


def cube():
    return tensor((2, 4, 4))


def image():
    return tensor((1, 2, 4, 4))


#: Whole calls, for what takes no tensor first or needs more than one of a kind.
CALLS = {
    "Tensor.item": lambda f: f(tensor(())),
    "Tensor.numpy": lambda f: f(tensor().detach()),
    "Tensor.backward": lambda f: f(tensor().sum()),
    "Tensor.register_hook": None,
    "Tensor.cuda": None,
    "Tensor.type": lambda f: f(tensor(), torch.float64),
    "Tensor.rename": lambda f: f(tensor(), None),
    "Tensor.dsplit": lambda f: f(tensor((2, 2, 2)), 2),
    "torch.dsplit": lambda f: f(tensor((2, 2, 2)), 2),
    "Tensor.as_strided": lambda f: f(tensor(), (2, 2), (1, 1)),
    "Tensor.new_full": lambda f: f(tensor(), (2, 2), 1.0),
    "Tensor.new_empty": lambda f: f(tensor(), (2, 2)),
    "Tensor.new_ones": lambda f: f(tensor(), (2, 2)),
    "Tensor.new_zeros": lambda f: f(tensor(), (2, 2)),
    "Tensor.expand_as": lambda f: f(tensor(()), tensor()),
    "Tensor.expand": lambda f: f(tensor(), 2, 4, 4),
    "Tensor.view": lambda f: f(tensor(), 2, 8),
    "Tensor.repeat": lambda f: f(tensor(), 2, 2),
    "Tensor.where": lambda f: f(tensor(), tensor() > 0.3, tensor()),
    "torch.where": lambda f: f(tensor() > 0.3, tensor(), tensor()),
    "torch.einsum": lambda f: f("ij,jk->ik", tensor(), tensor()),
    "torch.full": lambda f: f((2, 2), 0.5),
    "torch.arange": lambda f: f(4),
    "torch.eye": lambda f: f(4),
    "torch.linspace": lambda f: f(0, 1, 4),
    "torch.logspace": lambda f: f(0, 1, 4),
    "torch.randint": lambda f: f(100, (64,)),
    "torch.randperm": lambda f: f(64),
    "torch.scalar_tensor": lambda f: f(1.0),
    "torch.from_numpy": None,
    "torch.randint_like": lambda f: f(tensor(), 1000000),
    "torch.full_like": lambda f: f(tensor(), 0.5),
    "torch.normal": lambda f: f(tensor(), tensor()),
    "torch.save": lambda f: f(tensor(), io.BytesIO()),
    "torch.Generator": lambda f: f(),
    "torch.device": lambda f: f("cpu"),
    "torch.isin": lambda f: f(tensor(), tensor()),
    "torch.bucketize": lambda f: f(tensor(), tensor((4,))),
    "torch.searchsorted": lambda f: f(tensor((4,)), tensor()),
    "torch.tensordot": lambda f: f(tensor(), tensor()),
    "torch.manual_seed": None,
    "torch.compile": None,
    "torch.nn.functional.one_hot": lambda f: f(torch.tensor([0, 1, 2])),
    "torch.nn.functional.pad": lambda f: f(tensor(), (1, 1)),
    "torch.nn.functional.interpolate": lambda f: f(image(), 8),
    "torch.nn.functional.pixel_shuffle": lambda f: f(tensor((1, 4, 2, 2)), 2),
    "torch.nn.functional.conv1d": lambda f: f(cube(), tensor((3, 4, 1))),
    "torch.nn.functional.conv2d": lambda f: f(image(), tensor((3, 2, 1, 1))),
    "torch.nn.functional.conv3d": lambda f: f(tensor((1, 2, 4, 4, 4)), tensor((3, 2, 1, 1, 1))),
    "torch.nn.functional.embedding": lambda f: f(torch.tensor([0, 1]), tensor()),
    "torch.nn.functional.layer_norm": lambda f: f(tensor(), (4,)),
    "torch.layer_norm": lambda f: f(tensor(), (4,)),
    "torch.nn.functional.rms_norm": lambda f: f(tensor(), (4,)),
    "torch.nn.functional.prelu": lambda f: f(tensor(), tensor((1,))),
    "torch.nn.functional.linear": lambda f: f(tensor(), tensor((3, 4))),
    "torch.nn.functional.scaled_dot_product_attention": lambda f: f(cube(), cube(), cube()),
    "torch.nn.functional.nll_loss": lambda f: f(tensor(), torch.tensor([0, 1, 2, 3])),
    "torch.nn.functional.gaussian_nll_loss": lambda f: f(tensor(), tensor(), tensor()),
    "torch.nn.functional.multi_margin_loss": lambda f: f(tensor(), torch.tensor([0, 1, 2, 3])),
    "torch.nn.functional.multilabel_margin_loss": lambda f: f(tensor(), torch.zeros(4, 4, dtype=torch.long)),
    "torch.nn.functional.cosine_embedding_loss": lambda f: f(tensor(), tensor(), torch.ones(4)),
    "torch.nn.functional.ctc_loss": lambda f: f(
        tensor((5, 1, 4)).log_softmax(2), torch.tensor([[1, 2]]), torch.tensor([5]), torch.tensor([2])
    ),
    "torch.nn.functional.margin_ranking_loss": lambda f: f(tensor((4,)), tensor((4,)), torch.ones(4)),
    "torch.cuda.current_device": None,
    "torch.cuda.memory_allocated": lambda f: f(),
    "torch.cuda.max_memory_allocated": lambda f: f(),
}
for _name in ("adaptive_avg_pool2d", "avg_pool2d", "max_pool2d"):
    CALLS[f"torch.nn.functional.{_name}"] = lambda f: f(image(), 2)
for _space in ("Tensor.", "torch."):
    CALLS[f"{_space}broadcast_to"] = lambda f: f(tensor(), (2, 4, 4))
    CALLS[f"{_space}take"] = lambda f: f(tensor(), torch.tensor([0, 1]))
    CALLS[f"{_space}bincount"] = lambda f: f(torch.tensor([0, 1]))
for _name in ("cat", "concat", "concatenate", "hstack", "stack", "vstack"):
    CALLS[f"torch.{_name}"] = lambda f: f([tensor(), tensor()])
for _name in ("empty", "ones", "zeros", "rand", "randn"):
    CALLS[f"torch.{_name}"] = lambda f: f(4, 4)


def held(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [inner for each in result for inner in held(each)]
    return []


def transposed(shape=(4, 4)):
    return tensor(shape).t() if len(shape) == 2 else tensor(shape)


def attempt(function, first, following=None):
    """The first operand, its version before, what came after it, and the result; None where nothing is taken."""
    whole = not first.is_floating_point()
    for each in [following] if following is not None else operands(whole, tuple(first.shape)):
        operand = first * 1 if first.is_contiguous() else (first.t() * 1).t()
        version = operand._version
        with contextlib.suppress(Exception):
            return operand, version, each, function(operand, *each)
    return None


def expect(row, what, found):
    if row.get(what) not in (None, found):
        raise Wrong(f"{what} is {row[what]}, and torch gives {found}")


def kind(result, operand):
    if result is None or type(result).__name__ == "RemovableHandle":
        return "nothing"
    if result is operand:
        return "self"
    if isinstance(result, (bool, int, float)):
        return "number"
    if isinstance(result, numpy.ndarray):
        return "array"
    if isinstance(result, torch.Tensor):
        return "tensor"
    return "tensors" if held(result) else "plain"


def check_kind(row, result, operand):
    found = kind(result, operand)
    fits = {
        "tensor": ("tensor", "self") if row.get("storage") == "perhaps" else ("tensor",),
        "arguments": ("tensor", "tensors", "self"),
        "nothing": ("nothing", "plain"),
    }.get(row["gives"], (row["gives"],))
    if found not in fits:
        raise Wrong(f"gives {row['gives']}, and torch gives {found}: {type(result).__name__}")


def check_graph(row, result):
    kept = "kept" if any(each.requires_grad for each in held(result)) else "cut"
    expect(row, "graph", kept)


def shares(result, operand):
    memory = operand.untyped_storage().data_ptr()
    return any(each.untyped_storage().data_ptr() == memory for each in held(result))


def check_storage(row, function, following, result, operand):
    found = {shares(result, operand)}
    # A cast of what has the dtype already.
    casts = row["path"].startswith("Tensor.") and row.get("shape") == "same" and following == ()
    cast = [held(result)[0].detach()] if casts else []
    for first in (*cast, transposed(), tensor((4,)), tensor(()), tensor(whole=True), tensor((4, 4)).double()):
        tried = attempt(function, first, following) or attempt(function, first)
        if tried is not None and held(tried[3]):
            found.add(shares(tried[3], tried[0]))
    allowed = {"new": {False}, "shared": {True}, "perhaps": {True, False}}[row["storage"]]
    if not found <= allowed:
        raise Wrong(f"storage is {row['storage']}, and torch {'shares it' if True in found else 'copies'}")


def check_dtype(row, function, result):
    floating = held(result)[0].is_floating_point()
    tried = attempt(function, tensor(whole=True))
    of_whole = held(tried[3])[0].is_floating_point() if tried is not None and held(tried[3]) else None
    fits = {
        "same": floating and of_whole in (False, None),
        "promoted": floating and of_whole in (False, None),
        "float": floating and of_whole in (True, None),
        "whole": not floating and of_whole in (False, None),
        "argument": True,
    }[row["dtype"]]
    if not fits:
        raise Wrong(f"dtype is {row['dtype']}, and torch makes floating={floating}, of whole numbers {of_whole}")


def check_shape(row, function, following, result):
    shape = held(result)[0].shape
    if row["shape"] == "one" and len(shape) != 0:
        raise Wrong(f"shape is one, and torch gives {tuple(shape)}")
    if row["shape"] == "same":
        for given in ((4, 4), (3,), ()):
            tried = attempt(function, tensor(given), following)
            if tried is not None and held(tried[3])[0].shape != given:
                raise Wrong(f"shape is same, and torch makes {tuple(held(tried[3])[0].shape)} of {given}")
        for each in operands(shape=(3, 4)):
            tried = attempt(function, tensor((3, 4)), each)
            wide = any(isinstance(other, torch.Tensor) and other.dim() > 2 for other in each)
            if tried is not None and held(tried[3])[0].shape != (3, 4) and not wide and not row["path"].split(".")[-1].startswith("cl"):
                raise Wrong(f"shape is same, and torch makes {tuple(held(tried[3])[0].shape)} of (3, 4) with {each}")
    if row["shape"] == "broadcast" :
        try:
            wide = function(tensor(()), tensor((4,)))
        except Exception:
            wide = function(tensor(()), tensor((4,)), 0.5)
        if held(wide)[0].shape != (4,):
            raise Wrong("shape is broadcast, and torch does not")


def check_once(row, result, operand):
    """What one call shows, where the operands cannot be varied."""
    if not held(result) or operand is None:
        return
    if row.get("storage") in ("new", "shared") and shares(result, operand) != (row["storage"] == "shared"):
        raise Wrong(f"storage is {row['storage']}, and torch {'shares it' if shares(result, operand) else 'copies'}")
    if row.get("shape") == "one" and held(result)[0].dim() != 0:
        raise Wrong("shape is one, and torch gives more")
    if row.get("shape") == "same" and held(result)[0].shape != operand.shape:
        raise Wrong("shape is same, and torch gives another")
    if row.get("dtype") in ("same", "float", "promoted", "whole"):
        if held(result)[0].is_floating_point() != (row["dtype"] != "whole"):
            raise Wrong(f"dtype is {row['dtype']}, and torch gives {held(result)[0].dtype}")


def is_random(call):
    first, *others = [[each.detach().nan_to_num() for each in held(call())] for _ in range(4)]
    return any(not torch.equal(a, b) for other in others for a, b in zip(first, other))


def frees_what_it_saved(call):
    total = sum(each.sum() for each in held(call()) if each.is_floating_point())
    total.backward()
    try:
        total.backward()
    except RuntimeError as error:
        return "second time" in str(error)
    return False


def check_operation(row, function):
    path = row["path"]
    if path in CALLS:
        call = CALLS[path]
        if call is None:
            raise Untried("needs a device, a hook or another process")
        RECENT.clear()
        result, following = call(function), ()
        operand = RECENT[0] if RECENT else None
        again = lambda: call(function)  # noqa: E731
        check_once(row, result, operand)
    else:
        tried = attempt(function, tensor()) or attempt(function, cube()) or attempt(function, tensor((4,)))
        if tried is None:
            raise Untried("no operands are known for it")
        operand, version, following, result = tried
        again = lambda: attempt(function, operand, following)[3]  # noqa: E731
        if bool(row.get("changes")) != (operand._version != version) and row.get("gives") != "self":
            raise Wrong("changes its operand" if not row.get("changes") else "does not change its operand")
    if row.get("gives"):
        check_kind(row, result, operand)
    if held(result):
        if row["gives"] != "arguments":
            check_graph(row, result)
        if path not in CALLS:
            if row.get("storage"):
                check_storage(row, function, following, result, operand)
            if row.get("shape"):
                check_shape(row, function, following, result)
            if row.get("dtype") and not row.get("makes"):
                check_dtype(row, function, result)
        if not row.get("uninitialised") and not row.get("changes"):
            if bool(row.get("random")) != is_random(again):
                raise Wrong(f"random is {bool(row.get('random'))}, and torch draws {not row.get('random')}")
    if row.get("rearranges") and operand is not None and not torch.equal(*(x.flatten().sort()[0] for x in (operand, result))):
        raise Wrong("rearranges, and the numbers are others")
    if row.get("saves") and not frees_what_it_saved(again):
        raise Wrong("saves nothing for its backward: a second one works")
    if path.startswith("torch.") and hasattr(torch.Tensor, path.rsplit(".", 1)[1]) and row.get("gives") == "tensor":
        takes = attempt(lambda _, *given: function(2.0, *given), tensor()) is not None
        if takes != bool(row.get("numberFirst")) and not row.get("makes"):
            raise Wrong(f"numberFirst is {bool(row.get('numberFirst'))}, and torch takes a number: {takes}")
    if row.get("paired"):
        if len(held(function(tensor(), 1) if "topk" not in path else result)) != 2:
            raise Wrong("gives no pair for a dimension")


STRANGERS = (numpy.ndarray, pandas.DataFrame, pandas.Series, torch.nn.Module, str, list, dict, set)


def check_only(row):
    name = row["path"].rsplit(".", 1)[1]
    owner = next((each.__name__ for each in STRANGERS if hasattr(each, name)), None)
    if owner is not None:
        raise Wrong(f"only tensors have it, and {owner} does")


OPTIONS = {"size_average", "reduce", "reduction"}


def check_loss(row, function):
    names = list(inspect.signature(function).parameters)[: row["loss"]]
    if row["path"].startswith("torch.nn.functional.") and OPTIONS & set(names) and len(names) == row["loss"]:
        raise Wrong(f"one of the first {row['loss']} arguments is an option: {names}")


MADE = [(), (2,), (4,), (4, 4), (2, 2), (2, 2, 1), (4, 4, 4), (1, (2, 2)), (4, 2), (1, 4), (0, (2, 2)), (2, 0.5), ({},)]
INPUTS = [lambda: tensor() - 0.5, cube, image, lambda: tensor((1, 2, 4, 4, 4)), lambda: torch.tensor([[0, 1]]), lambda: tensor((1, 4, 4, 4))]


def check_layer(row, cls):
    if not issubclass(cls, torch.nn.Module):
        raise Wrong("is no module")
    if row["is"] != "map":
        return
    for given, make in itertools.product(MADE, INPUTS):
        try:
            layer = cls(*given)
            result = layer(make())
            twice = [layer(make()) for _ in range(8)]
        except Exception:
            continue
        if not isinstance(result, torch.Tensor):
            raise Wrong(f"gives a {type(result).__name__}, not one tensor")
        drawn = any(not torch.equal(twice[0], each) for each in twice)
        if drawn != bool(row.get("random")):
            raise Wrong(f"random is {bool(row.get('random'))}, and it draws {drawn}")
        heavy = any(each.dim() > 1 for each in layer.parameters())
        if heavy != bool(row.get("weights")):
            raise Wrong(f"weights is {bool(row.get('weights'))}, and it has {heavy}")
        last = row.get("lastDimension")
        if last is not None:
            parameters = list(inspect.signature(cls).parameters)
            if parameters[last["position"]] != last["keyword"]:
                raise Wrong(f"argument {last['position']} is {parameters[last['position']]}")
            if result.shape[-1] != given[last["position"]]:
                raise Wrong("its last dimension is another one")
        return
    raise Untried("no arguments are known for it")


def check_keywords(row, owner):
    if row.get("is") == "arguments" and not issubclass(owner, importlib.import_module("transformers").TrainingArguments):
        raise Wrong("are no arguments of transformers")
    parameters = inspect.signature(owner).parameters
    loose = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    for name in row.get("accepts", []):
        if name not in parameters and not loose:
            raise Wrong(f"does not accept {name}")
    for name in row.get("settles", {}):
        if name not in parameters:
            raise Wrong(f"does not accept {name}")
    for name, values in row.get("defaults", {}).items():
        if name not in parameters:
            raise Wrong(f"does not accept {name}")
        if str(parameters[name].default) != values[-1]["is"]:
            raise Wrong(f"{name} is {values[-1]['is']} by default, and here it is {parameters[name].default}")


def check_mode(row, owner):
    with torch.set_grad_enabled(row["gradMode"] != "on"):
        # `set_grad_enabled` switches when it is made.
        with owner(False) if row["gradMode"] == "flag" else owner():
            on = torch.is_grad_enabled()
    if on != (row["gradMode"] == "on"):
        raise Wrong(f"grad mode is {row['gradMode']}, and inside gradients are {'on' if on else 'off'}")


def experimental(name):
    """trl keeps most of its trainers in packages of their own, which `trl` itself does not import."""
    import trl.experimental

    for found in pkgutil.iter_modules(trl.experimental.__path__):
        with contextlib.suppress(Exception):
            module = importlib.import_module(f"trl.experimental.{found.name}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(name)


def resolve(path):
    if "." not in path or path.endswith(".*"):
        if importlib.util.find_spec(path.split(".")[0]) is None:
            raise Untried("the package is not installed")
        return importlib.import_module(path.removesuffix(".*"))
    owner, name = path.rsplit(".", 1)
    if owner in TYPES:
        return getattr(TYPES[owner], name)
    if owner == "builtins":
        return getattr(builtins, name)
    package = path.split(".")[0]
    if package == "trl" and not hasattr(importlib.import_module("trl"), name):
        return experimental(name)
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise Untried("the package is not installed") from error
    found = importlib.import_module(package)
    for part in path.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            if not inspect.ismodule(found):
                # A function has the name of its module, as `torch.autograd.gradcheck` does.
                return getattr(importlib.import_module(path.rpartition(".")[0]), part)
            found = importlib.import_module(f"{found.__name__}.{part}")
    return found


def check_draws(cls):
    """What a distribution with parameters that need gradients gives by `sample()`."""
    if cls is torch.distributions.Independent:
        made = cls(torch.distributions.Normal(tensor().exp(), 1.0), 1)
    else:
        names = ("loc", "scale", "rate", "probs", "df", "concentration", "concentration0", "concentration1", "low")
        asked = [name for name in inspect.signature(cls).parameters if name in names]
        given = {name: tensor().sigmoid() if name == "probs" else tensor().abs() + 1.0 for name in asked}
        if cls is torch.distributions.Uniform:
            given["high"] = given["low"] + 1.0
        if cls is torch.distributions.Binomial:
            given["total_count"] = 3
        if cls is torch.distributions.MultivariateNormal:
            given = {"loc": tensor().flatten()[:2], "covariance_matrix": torch.eye(2)}
        made = cls(**given)
    if made.sample().requires_grad:
        raise Wrong("a sample has a graph")


def check(row):
    """Raises what is wrong or cannot be tried; True where more than that it exists was tried."""
    path = row["path"]
    try:
        found = resolve(path)
    except (AttributeError, ImportError) as error:
        if row.get("until"):
            raise Untried("this version has it no more") from error
        if path.startswith("trl."):
            raise Untried("trl has it in other versions only") from error
        raise Wrong("does not exist") from error
    if "." not in path or path.endswith(".*"):
        return False
    if row.get("only"):
        check_only(row)
    if row.get("gradMode"):
        check_mode(row, found)
        return True
    if row.get("accepts") or row.get("defaults"):
        check_keywords(row, found)
        return True
    if row.get("is") in ("map", "layer", "container", "loss"):
        check_layer(row, found)
        return True
    if row.get("is") == "trainer":
        if not issubclass(found, importlib.import_module("transformers").Trainer):
            raise Wrong("is no trainer of transformers")
        return True
    if row.get("is"):
        return False
    if row.get("draws"):
        check_draws(found)
        return True
    if row.get("differentiates"):
        raise Untried("takes a function")
    if row.get("ends"):
        check_end(path, found)
        return True
    if row.get("attribute"):
        operand = tensor()
        result = getattr(operand, path.rsplit(".", 1)[1])
        if row.get("gives"):
            check_kind(row, result, operand)
        if held(result):
            check_graph(row, result)
        return True
    if row.get("loss") is not None:
        check_loss(row, found)
    if path.startswith(OPERATIONS) and path.rsplit(".", 1)[0] + "." in OPERATIONS + ("torch.cuda.",):
        check_operation(row, found)
        return True
    if path.startswith("Module."):
        check_module(row, found)
        return True
    if path.startswith("builtins."):
        check_builtin(row, found)
        return True
    return False


def check_module(row, method):
    module = torch.nn.Linear(2, 2)
    if row.get("walks") and not inspect.isgenerator(method(module)):
        raise Wrong("gives no iterator")
    if row.get("gives") == "self":
        given = {"apply": (lambda each: None,), "to_empty": (), "type": (torch.float32,)}
        name = row["path"].split(".")[1]
        if name in ("cuda", "xpu"):
            raise Untried("needs a device, a hook or another process")
        options = {"device": "cpu"} if name == "to_empty" else {}
        if method(module, *given.get(name, ()), **options) is not module:
            raise Wrong("gives another object")


def check_end(path, function):
    if path.startswith("os."):
        raise Untried("ends this very process")
    try:
        function(0)
    except SystemExit:
        return
    raise Wrong("the program goes on")


def check_builtin(row, function):
    """On a tensor of one element, where it takes one."""
    if row.get("runs") or row["path"] in ("builtins.input", "builtins.open", "builtins.setattr", "builtins.super", "builtins.vars"):
        raise Untried("runs other code or asks the world")
    for given in ((tensor(()),), (tensor((1,)),), ([tensor(())],), (tensor(()), 2)):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                result = function(*given)
        except Exception:
            continue
        result = list(result) if isinstance(result, (zip, enumerate, set, frozenset, type(reversed([])))) else result
        kept = "kept" if any(each.requires_grad for each in held(result)) else "cut"
        expect(row, "graph", kept)
        return
    raise Untried("no operands are known for it")


#: End in an underscore and change no number: the graph, the names or where the memory is.
NO_NUMBERS = {"requires_grad_", "detach_", "share_memory_", "rename_", "set_", "resize_as_"}


def check_underscores():
    """`changesTensor` takes every method that ends in one underscore for one that changes its tensor."""
    for name in dir(torch.Tensor):
        if not name.endswith("_") or name.startswith("_") or name in NO_NUMBERS:
            continue
        method = getattr(torch.Tensor, name)
        for first in (tensor(), tensor(whole=True)):
            tried = attempt(method, first)
            if tried is not None and (tried[0]._version == tried[1] or tried[3] is not tried[0]):
                yield f"Tensor.{name}: does not change its tensor and give it back"


def main():
    rows = json.load(open(sys.argv[1]))
    wrong, untried, seen = list(check_underscores()), collections.defaultdict(list), 0
    for row in rows:
        try:
            seen += not check(row)
        except Wrong as error:
            wrong.append(f"{row['path']}: {error}")
        except Untried as reason:
            untried[str(reason)].append(row["path"])
    for reason, paths in sorted(untried.items()):
        print(f"not tried, {reason}: {len(paths)} ({' '.join(paths)})")
    for line in wrong:
        print(f"WRONG {line}")
    count = sum(map(len, untried.values()))
    holds = len(rows) - count - len(wrong)
    print(f"{len(rows)} rows of the library: {holds} hold ({seen} of them only by existing), {count} not tried, {len(wrong)} wrong")
    return 1 if wrong else 0


sys.exit(main())
