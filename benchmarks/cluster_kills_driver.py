"""The driver of `benchmarks.cluster_kills`, in a process of its own: ADDRESS MODEL FOLDER OUTPUT LOG."""

import sys

from benchmarks.cluster_kills import drive

if __name__ == "__main__":
    drive(*sys.argv[1:])
