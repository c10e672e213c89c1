"""Label spaces and their views, label sets, word codings and transition schemes."""
