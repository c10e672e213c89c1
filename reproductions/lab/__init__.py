"""What the studies share: corpora, results that are kept, comparisons, pages, and the command."""
