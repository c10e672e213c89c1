"""What the site needs of the pages: MkDocs loads this file when it builds them.

Run by itself, it prints the tables of docs/methods.md, which are made of the options of the training methods.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, get_type_hints


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add a page for every notebook, with the outputs of its cells if `make docs` builds the site."""
    sys.path.insert(0, str(Path(__file__).parent))
    from mkdocs.structure.files import File
    from notebook_pages import page

    for notebook in [each for each in files if each.src_uri.endswith(".ipynb")]:
        content = page(Path(notebook.abs_src_path), bool(os.environ.get("NOTEBOOK_OUTPUTS")))
        files.append(File.generated(config, str(Path(notebook.src_uri).with_suffix(".md")), content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Give blocks that show a file its name as their title."""
    return re.sub(r"^```(\w+) (\S+)$", r'```\1 title="\2"', markdown, flags=re.MULTILINE)


def on_page_content(html: str, **_: Any) -> str:
    """Show bars in the code of tables as bars: Markdown needs a backslash before them, and this renderer keeps it."""
    return re.sub(r"<td.*?</td>", lambda cell: cell[0].replace(r"\|", "|"), html, flags=re.DOTALL)


def method_tables() -> str:
    """All training methods with their defaults, and the options of each, as tables in Markdown."""
    from tagweave.structures.kinds import CHAIN, TREE
    from tagweave.training.methods import METHODS, SINGLE, usual

    defaults = f"`{SINGLE}` for corpora of one guideline, `{usual(CHAIN)}` for several, and `{usual(TREE)}` for trees"
    lines = [f"The default is {defaults} of several.", ""]
    lines += ["| method | what it does | structures |", "| --- | --- | --- |"]
    for method in METHODS.values():
        lines.append(f"| `{method.name}` | {method.summary} | {', '.join(method.structures)} |")
    for method in METHODS.values():
        if fields(method.options):
            lines += ["", f"## `{method.name}`", "", "| option | default | meaning |", "| --- | --- | --- |"]
            lines += _rows(method.options)
    return "\n".join(lines) + "\n"


def _rows(options: Any) -> Iterator[str]:
    from tagweave.cli.errors import in_flags
    from tagweave.training.options import choices

    kinds = get_type_hints(options)
    for each in fields(options):
        value = each.metadata["metavar"] or "|".join(choices(kinds[each.name]))
        flag = f"--{each.name.replace('_', '-')} {value}".strip().replace("|", r"\|")
        yield f"| `{flag}` | {_default(each)} | {in_flags(each.metadata['help'])} |"


def _default(each: Field[Any]) -> str:
    """The default of an option; nothing where its help tells it, or where it is a switch."""
    if each.default is None or each.default is False or each.default == ():
        return ""
    several = each.default if isinstance(each.default, tuple) else (each.default,)
    return f"`{','.join(f'{value:g}' if isinstance(value, float) else str(value) for value in several)}`"


if __name__ == "__main__":
    print(method_tables())
