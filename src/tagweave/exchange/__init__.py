"""Texts with spans by offsets, as other tools write and read them: documents in, sentences of tokens out, and back."""
