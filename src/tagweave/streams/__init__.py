"""Takes files of any length through a model in blocks, to fill in or convert labels, words and trees."""
