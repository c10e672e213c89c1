"""People annotate the tokens that teach a model most, in a browser; answers become evidence (li-2015, section 4)."""
