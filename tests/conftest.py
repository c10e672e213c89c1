"""What all tests share: this folder on the import path (for `naive`), and Hypothesis without a clock.

The first example that reaches a kernel compiles it, so the time of one example says nothing. In CI the examples are the
same in every run, so that a change is judged by what it does; elsewhere they differ, to find what nobody thought of.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("tagweave", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("tagweave")
