"""The corpus formats, one file each: how a format is read and written, and what it can hold."""
