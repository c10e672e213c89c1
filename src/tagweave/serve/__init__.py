"""Trained models behind HTTP: JSON for programs, Label Studio's ML backend, and INCEpTION's external recommender."""
