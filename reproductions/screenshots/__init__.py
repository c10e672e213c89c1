"""Pictures of the annotation server for the documentation."""
