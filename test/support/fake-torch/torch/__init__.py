"""As much of torch as `memfix prove` touches, made of plain Python: what it measures is what a test tells it."""

from . import _C, autograd, cuda, optim  # noqa: F401

__version__ = "0.0-fake"


class Storage:
    def __init__(self, size):
        self.size = size

    def data_ptr(self):
        return id(self)

    def nbytes(self):
        return self.size


class Tensor:
    device = "cpu"

    def __init__(self, value=0.0, size=4, parameter=False, storage=None):
        self.value = value
        self.is_leaf = self.requires_grad = parameter
        self.storage = storage or Storage(size)

    def untyped_storage(self):
        return self.storage

    def numel(self):
        return 1

    def detach(self):
        return Tensor(self.value, storage=self.storage)

    def __float__(self):
        cuda.synchronizing()
        return float(self.value)

    item = __float__

    def backward(self):
        autograd.backward(self)
