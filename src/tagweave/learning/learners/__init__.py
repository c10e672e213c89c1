"""The learners, one in each file, under the name of the file.

A file of this package that ends in `LEARNER`, its class, adds a learner; nothing else has to name it. The fields of the
class are the settings of the learner.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

USUAL = "adagrad"
"""The default learner."""
NAMES = tuple(sorted((module.name for module in iter_modules(__path__)), key=lambda name: (name != USUAL, name)))
"""The names of the learners, the default first. Help lists them without importing any learner."""


def learner_classes() -> dict[str, type[Any]]:
    """Return the classes of the learners by name."""
    return {name: import_module(f"{__name__}.{name}").LEARNER for name in NAMES}
