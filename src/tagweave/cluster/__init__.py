"""Executors of tasks on processes (`processes`) and on Ray clusters (`ray_cluster`). Nothing here knows a model.

`executor` has the interface and opens either by its address; `shared_file` brings files to the workers that need them.
"""
