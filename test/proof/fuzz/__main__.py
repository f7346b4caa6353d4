"""Random training programs, executed before and after `memfix apply`: what they print must not change.

usage: python test/proof/fuzz [--kind steps|records|state] [--seed N] [--count N] [--keep FOLDER] [--run FOLDER]
       (with the Python of `npm run prove`, after `npm run build`)

With --keep the programs stay there, and --run only executes those of such a folder, on a machine that has a GPU but no memfix.
Exit 1 where a program that ended well prints something else, or raises, after the fixes.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
import warnings

from records import Records
from state import State
from steps import Steps

ROOT = pathlib.Path(__file__).resolve().parents[3]
KINDS = {"steps": Steps, "records": Records, "state": State}


def execute(folder: pathlib.Path) -> list:
    """What main.py prints, and how it ends: in a process of its own, which has torch already."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        out, error = io.StringIO(), None
        os.chdir(folder)
        warnings.simplefilter("ignore")
        try:
            with contextlib.redirect_stdout(out):
                runpy.run_path("main.py", run_name="__main__")
        except Exception as raised:
            error = repr(raised)
        with os.fdopen(writes, "w") as pipe:
            json.dump([out.getvalue(), error], pipe)
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as pipe:
        answer = json.load(pipe)
    os.waitpid(child, 0)
    return answer


def write(top: pathlib.Path, kind: str, seed: int, count: int) -> None:
    """The programs, and beside each the same with all safe fixes."""
    for number in range(count):
        text = KINDS[kind](f"{seed} {number}").text(number)
        for side in ("before", "after"):
            folder = top / side / f"{kind}-{seed}-{number}"
            folder.mkdir(parents=True)
            (folder / "main.py").write_text(text)
    memfix = ["node", str(ROOT / "dist" / "cli.js"), "apply", "--no-cache", "--allow-no-vcs", "."]
    for folder in sorted((top / "after").iterdir()):
        done = subprocess.run(memfix, cwd=folder, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(done.stderr)


def compare(top: pathlib.Path) -> int:
    import torch

    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    programs = edited = raised = wrong = 0
    for before in sorted((top / "before").iterdir()):
        programs += 1
        after = top / "after" / before.name
        if (before / "main.py").read_text() == (after / "main.py").read_text():
            continue
        was = execute(before)
        if was[1] is not None:
            raised += 1
            continue
        edited += 1
        now = execute(after)
        if was != now:
            wrong += 1
            print(f"{before.name}: {was} became {now}")
    print(f"{wrong} wrong of {edited} edited, of {programs} programs ({raised} more were edited, and raise as they were)")
    return 1 if wrong > 0 else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=sorted(KINDS), default="steps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--keep", type=pathlib.Path, help="leave the programs in this folder, which is made")
    parser.add_argument("--run", type=pathlib.Path, help="execute the programs of such a folder, and make none")
    asked = parser.parse_args()
    if asked.run is not None:
        return compare(asked.run)
    with tempfile.TemporaryDirectory() as scratch:
        top = asked.keep or pathlib.Path(scratch)
        write(top, asked.kind, asked.seed, asked.count)
        return compare(top)


if __name__ == "__main__":
    sys.exit(main())
