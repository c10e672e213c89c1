"""The experiments of li-2015 on open corpora: Tables 3 to 6, Figures 3 and 4, and the like in English."""
