"""The usual features and learner, on 1,000 words and more of four languages."""
