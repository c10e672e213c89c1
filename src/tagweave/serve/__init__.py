"""Trained models behind HTTP: JSON for programs, and Label Studio's ML backend.

`serving` starts the processes, `app` has the endpoints on the state of `site`, `requests` their JSON. `batches`
computes requests of many connections together on `served_models`; `label_studio` and `retraining` serve the annotation
tool.
"""
