"""Trainers that know no structure.

A trainer sees an `Objective`: a loss of weights over sentences, with its gradient, and (for the perceptron) the
mistakes of decoding. Everything that a trainer needs to go on is in its `State`, so training can be stopped and
resumed anywhere.
"""
