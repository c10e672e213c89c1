"""Sources of annotation: who says what, and how far each is to be believed."""
