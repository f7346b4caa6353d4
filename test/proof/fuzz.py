"""Random training programs, executed before and after `memfix apply`: what they print must not change.

usage: python test/proof/fuzz.py [--seed N] [--count N] [--keep FOLDER]      (with the Python of `npm run prove`, after `npm run build`)

Each has three networks, of which an optimizer gets some, and a loop that runs them in any order: results that are read, detached,
changed in place, kept, or differentiated. Exit 1 where a program prints something else, or raises, after the fixes.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import random
import runpy
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

TEACHERS = ["copy.deepcopy(A)", "nn.Linear(4, 4)", "nn.Linear(4, 4).eval()"]
TRAINED = [
    "A.parameters()",
    "[*A.parameters(), *B.parameters()]",
    "[*A.parameters(), *T.parameters()]",
    "nn.ModuleList([A, B]).parameters()",
]
BETWEEN = [
    "{v} * 2",
    "torch.tanh({v})",
    "{v}.view(2, 4)",
    "{v} + x",
    "{v}.detach()",
    "{v}.clone()",
    "{v}[:, :4]",
    "torch.cat([{v}, x])[:2]",
    "{v} * A.bias",
    "{v} * B.bias",
    "torch.zeros_like({v})",
    "{v}.data",
]
TERMS = ["F.mse_loss(A(x), {v})", "{v}.pow(2).mean()", "({v} * B(x)).mean()"]
BEFORE_THE_STEP = [
    "torch.nn.utils.clip_grad_norm_([*A.parameters(), *T.parameters()], 1.0)",
    "torch.nn.utils.clip_grad_norm_(A.parameters(), 1.0)",
    "print(sum(p.grad.norm().item() for p in B.parameters() if p.grad is not None) > 0)",
]
MOVING_AVERAGE = [
    "with torch.no_grad():",
    "    for p, q in zip(T.parameters(), A.parameters()):",
    "        p.mul_(0.9).add_(q, alpha=0.1)",
]
SUMS = "print([round(p.sum().item(), 4) for m in (A, B, T) for p in m.parameters()])"


class Program:
    """One program: its text, and the names that it has bound to tensors and to numbers."""

    def __init__(self, chance: random.Random):
        self.chance = chance
        self.tensors = ["x"]
        self.numbers: list[str] = []

    def text(self, seed: int) -> str:
        pick, maybe = self.chance.choice, self.maybe
        lines = ["import copy", "import torch", "import torch.nn.functional as F", "from torch import nn", ""]
        lines += [f"torch.manual_seed({seed})", "A = nn.Linear(4, 4)", "B = nn.Linear(4, 4)"]
        lines += [f"T = {pick(TEACHERS)}", "KEPT = []"]
        lines += ["T.eval()"] if maybe(0.6) else []
        lines += ["for p in T.parameters():", "    p.requires_grad_(False)"] if maybe(0.15) else []
        lines += [f"optimizer = torch.optim.SGD({pick(TRAINED)}, lr=0.1)"]
        loop = ["for step in range(3):", *indented(self.step())]
        if maybe(0.5):
            loop = ["def train():", *indented(loop), "", 'if __name__ == "__main__":', "    train()", f"    {SUMS}"]
        else:
            loop.append(SUMS)
        return "\n".join([*lines, "", *loop, ""])

    def step(self) -> list[str]:
        pick, maybe = self.chance.choice, self.maybe
        body = [line for _ in range(self.chance.randint(4, 9)) for line in self.statement()]
        made = self.tensors[1:]
        terms = self.chance.sample(made, min(len(made), self.chance.randint(1, 3))) or ["x"]
        loss = ["loss = A(x).pow(2).mean()", *(f"loss = loss + {pick(TERMS).format(v=term)}" for term in terms)]
        step = ["optimizer.zero_grad()", "loss.backward()", "optimizer.step()"]
        if maybe(0.25):
            step.insert(2, pick(BEFORE_THE_STEP))
        if maybe(0.3):
            step += MOVING_AVERAGE
        told = "".join(f", round({number}, 4)" for number in self.numbers)
        return ["x = torch.randn(2, 4)", *body, *loss, *step, f"print(round(loss.item(), 4){told})"]

    def statement(self) -> list[str]:
        pick, given = self.chance.choice, self.chance.choice(self.tensors)
        run = f"{pick('AABTT')}({given})"
        kind = self.chance.random()
        if kind < 0.45:
            return [f"{self.bound()} = {run}{pick(['', '', '', '.detach()', '.detach()', '.data'])}"]
        if kind < 0.62:
            name = f"n{len(self.numbers)}"
            self.numbers.append(name)
            return [f"{name} = {run}.{pick(['mean', 'sum', 'max'])}().item()"]
        if kind < 0.85:
            return [f"{self.bound()} = {pick(BETWEEN).format(v=given)}"]
        if kind < 0.9:
            return [f"{given} {pick(['+=', '*='])} {pick(['0.5', 'x'])}"]
        if kind < 0.95:
            return [f"KEPT.append({given})"]
        name, other = self.bound(), f"{pick('ABT')}({given})"
        return ["if step % 2:", f"    {name} = {run}", "else:", f"    {name} = {other}{pick(['', '.detach()'])}"]

    def bound(self) -> str:
        self.tensors.append(f"v{len(self.tensors)}")
        return self.tensors[-1]

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" if line else line for line in lines]


def execute(folder: pathlib.Path) -> list:
    """What main.py prints, and how it ends: in a process of its own, which has torch already."""
    reads, writes = os.pipe()
    if os.fork() == 0:
        out, error = io.StringIO(), None
        os.chdir(folder)
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
    os.wait()
    return answer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--keep", type=pathlib.Path, help="leave the programs in this folder")
    asked = parser.parse_args()
    import torch

    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    edited = wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        top = asked.keep or pathlib.Path(scratch)
        for number in range(asked.count):
            text = Program(random.Random(f"{asked.seed} {number}")).text(number)
            before, after = (top / f"{asked.seed}-{number}-{side}" for side in ("before", "after"))
            for folder in (before, after):
                folder.mkdir(parents=True)
                (folder / "main.py").write_text(text)
            words = ["node", str(ROOT / "dist" / "cli.js"), "apply", "--no-cache", "--allow-no-vcs", "."]
            done = subprocess.run(words, cwd=after, capture_output=True, text=True)
            if done.returncode not in (0, 1):
                print(done.stderr)
                return 2
            if (after / "main.py").read_text() == text:
                continue
            edited += 1
            was, now = execute(before), execute(after)
            if was != now:
                wrong += 1
                print(f"seed {asked.seed}, program {number}: {was} became {now}")
    print(f"{wrong} wrong of {edited} edited, of {asked.count} programs")
    return 1 if wrong > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
