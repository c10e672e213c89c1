"""Training, in layers: each knows the ones below.

| layer | what it does |
|---|---|
| `train`, `resolve` | from a plan to a job, and from the job to a model that is no worse than a plain one |
| `race`, `roles`, `guidelines` | decisions: which method, which corpus teaches, which guideline a corpus follows |
| `methods` | a file for each way to train, with its options |
| `job` | a plan with its corpora |
| `corpora`, `inspection` | corpora that a plan names, and what looks wrong with them |
| `cascades` | corpora to corpora or models |
| `fit` | corpora of one guideline and a recipe to one model |
| `plan` | what to train, on what and how, as data |
"""
