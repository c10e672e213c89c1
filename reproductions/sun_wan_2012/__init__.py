"""The experiments of sun-wan-2012 on open corpora: Tables 2 to 6."""
