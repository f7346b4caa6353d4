"""What is measured: one piece of code as it was written and as a transform rewrites it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Step = Callable[[], object]


@dataclass(frozen=True)
class Case:
    transforms: tuple[str, ...]
    what: str
    setup: str
    # Given `after`, sets everything up and returns what is then run again and again.
    build: Callable[[bool], Step]
    # Steps that are run first and not measured: they load kernels and fill caches.
    warmup: int
    steps: int
    # Processes that measure each side; more where a step is short, because its time then depends on the process.
    rounds: int
    # Whether the symptom is host memory, which is then measured too.
    host: bool


CASES: list[Case] = []


def case(
    *transforms: str, what: str, setup: str, warmup: int = 3, steps: int = 7, rounds: int = 1, host: bool = False
):
    """Registers a before and after for the transforms that rewrite the one into the other."""

    def register(build: Callable[[bool], Step]) -> Callable[[bool], Step]:
        CASES.append(Case(transforms, what, setup, build, warmup, steps, rounds, host))
        return build

    return register


def short(*transforms: str, what: str, setup: str, warmup: int = 5, steps: int = 30):
    """For what takes so little that its time varies between processes."""
    return case(*transforms, what=what, setup=setup, warmup=warmup, steps=steps, rounds=5)


def once(*transforms: str, what: str, setup: str, host: bool = False):
    """For what a program does one time, such as loading a checkpoint."""
    return case(*transforms, what=what, setup=setup, warmup=0, steps=1, host=host)
