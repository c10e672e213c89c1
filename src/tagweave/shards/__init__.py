"""Folders of files (shards) through a function, on many workers: a shard in is a shard out, of the same name.

`listing` finds shards on local and remote file systems, `run` processes those that are not done; `rows` and `parquet`
take tables apart and put them together.
"""
