"""Label spaces and their views, bundles of labels and their mappings, label sets, word codings, transition schemes."""
