"""Partial annotation for free.

From word lists (`lexicon`, `matching`, `runs`), gazetteers (`phrases`), and the markup of pages (`markup`, `page`);
`selection` keeps the sentences that matter to a target text (liu-2014), and `clusters` groups words of raw text.
"""
