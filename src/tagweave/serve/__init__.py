"""Trained models behind HTTP: JSON for programs, Label Studio's ML backend, and INCEpTION's external recommender.

`serving` starts the processes, `app` has the endpoints on the state of `site`, `requests` their JSON. `batches`
computes requests of many connections together on `served_models`; `label_studio`, `inception` and `retraining` serve
annotation tools.
"""
