"""The picture of an estimator in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

_STYLE = "border:1px solid #8888;border-radius:4px;padding:.4em .8em;display:inline-block"


def picture(name: str, parameters: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """An estimator as HTML: its name, the parameters that differ from the defaults, and facts about its model."""
    title = "fitted" if facts else "not fitted"
    tables = [_table("parameters", parameters), _table("model", facts)]
    return f'<div style="{_STYLE}"><b>{escape(name)}</b> ({title}){"".join(tables)}</div>'


def _table(title: str, rows: Mapping[str, Any]) -> str:
    if not rows:
        return ""
    cells = "".join(f"<tr><th>{escape(key)}</th><td>{escape(str(value))}</td></tr>" for key, value in rows.items())
    return f"<details open><summary>{escape(title)}</summary><table>{cells}</table></details>"
