"""What all kinds of random programs share."""

import random


class Chance:
    """A generator of one program, the same for the same seed."""

    def __init__(self, seed: str):
        self.random = random.Random(seed)
        self.pick = self.random.choice

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def some(self, lines: list, least: int, most: int) -> list:
        """Some of the choices, each at most once, in any order."""
        return self.random.sample(lines, min(len(lines), self.random.randint(least, most)))


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" if line else line for line in lines]
