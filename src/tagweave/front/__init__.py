"""The front door: what `import tagweave` offers, in terms of words, texts and corpora."""
