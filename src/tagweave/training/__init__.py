"""Training: plans, the methods that carry them out, and what travels along."""
