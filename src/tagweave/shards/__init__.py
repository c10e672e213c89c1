"""Folders of files (shards) through a function, on many workers: a shard in is a shard out, of the same name.

`listing` finds shards on local and remote file systems, `run` carries out what is not done yet; `rows` and `parquet`
take tables apart and put them together.
"""
