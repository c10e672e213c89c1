"""Why a model says what it says: what speaks for its answer, and what for the best other one."""
