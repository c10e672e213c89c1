"""Ways to learn from annotation that is incomplete or foreign, each a step from corpus to corpus."""
