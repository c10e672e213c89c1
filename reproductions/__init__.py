"""The experiments of papers, and other studies: each a folder here, run by `python -m reproductions NAME`."""
