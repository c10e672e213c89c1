"""Evidence: what annotation says of the outputs of sentences, apart from features and scores."""
