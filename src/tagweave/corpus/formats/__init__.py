"""The formats, one file each: how it is read and written, and what it can hold."""
