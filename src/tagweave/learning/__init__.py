"""Trainers, independent of structures.

A trainer sees an `Objective`: a loss of weights over sentences with its gradient and, for the perceptron, the mistakes
of decoding. Its whole state is in `TrainerState`, so training can be stopped and resumed after any iteration.
"""
