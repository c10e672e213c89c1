"""What answers of annotators are worth: accuracy by their number, and by which words are asked for."""
