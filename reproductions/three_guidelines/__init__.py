"""One coupled model of three guidelines, beside models of two and of one."""
