"""Parses every Python file below the working folder with LibCST and visits its calls, in two processes."""

from multiprocessing import Pool
from pathlib import Path

import libcst

NAMES = {"append", "autocast", "backward", "checkpoint", "eval", "load", "parameters", "save", "save_pretrained", "to"}


class Calls(libcst.CSTVisitor):
    def __init__(self):
        self.found = 0

    def visit_Call(self, node):
        function = node.func
        name = function.attr.value if isinstance(function, libcst.Attribute) else getattr(function, "value", None)
        if isinstance(name, str) and name in NAMES:
            self.found += 1


def sites(path):
    calls = Calls()
    try:
        libcst.parse_module(path.read_bytes()).visit(calls)
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        return f"{path}: not parsed"
    return f"{path}: {calls.found}" if calls.found else None


if __name__ == "__main__":
    with Pool(2) as pool:
        for line in pool.imap_unordered(sites, sorted(Path(".").rglob("*.py")), chunksize=8):
            if line:
                print(line)
