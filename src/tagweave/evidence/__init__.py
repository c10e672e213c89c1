"""Evidence from annotation about the outputs of sentences; it knows no features and no scores."""
