"""Folders of files (shards) through a function, on many workers: a shard in is a shard out, of the same name."""
