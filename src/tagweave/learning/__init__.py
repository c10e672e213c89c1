"""Trainers, independent of structures.

A trainer sees an `Objective`: a loss of weights over sentences with its gradient and, for the perceptron, the mistakes
of decoding. Its whole state is in `TrainerState`, so training can be stopped and resumed after any iteration.
"""

LEARNERS = {
    "adagrad": "online.AdaGrad",
    "lbfgs": "full_batch.LBFGS",
    "sgd": "online.SGD",
    "perceptron": "mistake_driven.AveragedPerceptron",
    "pa": "mistake_driven.PassiveAggressive",
    "arow": "mistake_driven.AROW",
    "adamw": "adamw.AdamW",
}
"""The learners by name: module and class. Help names them without importing any."""
