"""From sentences to integer arrays: columns, templates, the feature index."""
