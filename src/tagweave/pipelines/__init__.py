"""Models as parts of other libraries' pipelines: components and a tokenizer of spaCy (`spacy`, `annotations`)."""
