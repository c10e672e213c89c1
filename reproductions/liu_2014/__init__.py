"""The experiments of liu-2014 on open corpora: Tables 4 to 7, Figures 3 and 4."""
