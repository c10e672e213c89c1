"""Files of any length through a model, block by block: labels, words and trees that are filled in, or converted."""
