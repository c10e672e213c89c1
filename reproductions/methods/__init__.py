"""Every method of `tagweave train` on one task: scores, time, memory, size."""
