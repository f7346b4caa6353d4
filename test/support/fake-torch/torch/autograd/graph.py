from .._C import hooks


class saved_tensors_hooks:
    def __init__(self, pack, unpack):
        self.pack, self.unpack = pack, unpack

    def __enter__(self):
        hooks.append(self)

    def __exit__(self, *error):
        hooks.pop()


def save(tensor):
    """What an operation does with what its backward needs."""
    return hooks[-1].pack(tensor) if hooks else tensor
