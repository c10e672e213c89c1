"""The experiments of tsuboi-2008, section 5.1, on open corpora: Figure 3, for Chinese and for Japanese."""
