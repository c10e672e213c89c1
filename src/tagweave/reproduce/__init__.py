"""Experiments of the papers, on corpora that the user has: `tagweave reproduce`.

A recipe runs its trainings one by one, keeps the output of each in a folder, and writes pages of what came out.
"""
