"""Pictures for notebooks: HTML and SVG in one piece, legible on light and dark pages, from text that is not trusted."""
