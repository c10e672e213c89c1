"""From corpora to corpora or models, by fits of several models.

`jackknife` labels text by models of its other parts, and `guided` shows a model the labels of another. The cascades of
papers are made of these: `coupled` with `narrowing` (li-2015), `guided_rounds` and `transform` (jiang-2015), `subword`
(sun-wan-2012). Others treat annotation that is `incomplete`, wrong (`noise`, `label_errors`, `head_errors`) or of
several sources (`source_rounds`).
"""
