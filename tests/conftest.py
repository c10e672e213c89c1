"""What all tests share: this folder on the import path (for `naive`), and Hypothesis without a clock.

The first example that reaches a kernel compiles it, so the time of one example says nothing.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("tagweave", deadline=None)
settings.load_profile("tagweave")
