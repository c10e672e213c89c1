"""Hooks of the documentation's site: MkDocs loads this file when it builds the pages.

They make pages of notebooks, tables of the options that the program declares, and headings of the reference as users
write the names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from typing import Any

_NOT_SEARCHED = ("results/", "papers/")
_ARGUMENT = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
"""An argument in a docstring, and what it means."""
_COMMAND = re.compile(r"^## `tagweave ([\w ]+)`$|^<!-- options -->$", re.MULTILINE)


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add a page for every notebook, with the outputs of its cells."""
    sys.path.insert(0, str(Path(__file__).parent))
    from mkdocs.structure.files import File
    from notebook_pages import page

    for notebook in [each for each in files if each.src_uri.endswith(".ipynb")]:
        content = page(Path(notebook.abs_src_path))
        files.append(File.generated(config, str(Path(notebook.src_uri).with_suffix(".md")), content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Insert tables and headings, title blocks by the file they show, and keep results out of the search."""
    if page.file.src_uri.startswith(_NOT_SEARCHED):
        page.meta["search"] = {"exclude": True}
    if "<!-- methods -->" in markdown:
        markdown = markdown.replace("<!-- methods -->", method_tables())
    if "<!-- learners -->" in markdown:
        markdown = markdown.replace("<!-- learners -->", learner_tables())
    if "<!-- options -->" in markdown:
        markdown = with_options(markdown)
    markdown = re.sub(r"^::: (\S+)$", _directive, markdown, flags=re.MULTILINE)
    return re.sub(r"^```(\w+) (\S+)$", r'```\1 title="\2"', markdown, flags=re.MULTILINE)


def on_page_content(html: str, **_: Any) -> str:
    """Show bars in the code of tables as bars: Markdown needs a backslash before them, and this renderer keeps it."""
    return re.sub(r"<td.*?</td>", lambda cell: cell[0].replace(r"\|", "|"), html, flags=re.DOTALL)


def _directive(entry: re.Match[str]) -> str:
    """Return a directive of the reference with the heading `tw.NAME`, or `NAME` of a dotted path."""
    import tagweave

    heading = path = entry[1]
    if path.startswith("tw."):
        found = getattr(tagweave, path.removeprefix("tw."))
        path = f"{found.__module__}.{found.__qualname__}"
    else:
        home, _, heading = path.rpartition(".")
        found = getattr(import_module(home), heading)
    table = "\n".join(_of_class(found)) if is_dataclass(found) else ""
    return f"::: {path}\n    options:\n      heading: {heading}\n      toc_label: {heading}\n{table}"


def with_options(markdown: str) -> str:
    """Replace `<!-- options -->` in the section of a command by the table of the command's options."""
    command = ""

    def replaced(found: re.Match[str]) -> str:
        nonlocal command
        if found[1]:
            command = found[1]
            return found[0]
        return "\n".join(["| option | meaning |", "| --- | --- |", *_options(command)])

    return _COMMAND.sub(replaced, markdown)


def _options(name: str) -> Iterator[str]:
    import typer

    from tagweave.cli.main import application

    command: Any = typer.main.get_command(application([name.split(maxsplit=1)[0]]))
    for word in name.split():
        command = command.get_command(typer.Context(command), word)
    for each in command.params:
        if each.param_type_name == "option":
            flags = ", ".join((*each.opts, *each.secondary_opts))
            value = "" if each.is_flag else f" {each.metavar}"
            yield f"| `{_cell(flags + value)}` | {_cell(each.help or '')}{_default(each)} |"
    for setting, text in getattr(command, "settings", {}).items():
        yield f"| `--set {_cell(setting)}` | {_cell(text)} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _default(option: Any) -> str:
    """Return the default of an option as a sentence, unless its help has it or there is none to tell."""
    known = isinstance(option.default, int | float | str) and not isinstance(option.default, bool)
    return f" Default: {option.default}." if known and "efault" not in (option.help or "") else ""


def method_tables() -> str:
    """Return all training methods with their defaults, and the options of each, as tables in Markdown."""
    from tagweave.structures import CHAIN, TREE
    from tagweave.training.methods import METHODS, SINGLE, usual

    defaults = f"`{SINGLE}` for corpora of one guideline, `{usual(CHAIN)}` for several, and `{usual(TREE)}` for trees"
    lines = [f"The default is {defaults} of several.", ""]
    lines += ["| method | what it does | structures |", "| --- | --- | --- |"]
    for method in METHODS.values():
        lines.append(f"| `{method.name}` | {method.summary} | {', '.join(method.structures)} |")
    for method in METHODS.values():
        if table := list(_of_class(method.options, as_flags=True)):
            lines += ["", f"### `{method.name}`", *table]
    return "\n".join(lines) + "\n"


def learner_tables() -> str:
    """Return all learners with their iterations, and the settings of each as its docstring describes them."""
    from tagweave.training.fit.recipe import LEARNERS

    lines = ["| learner | iterations without `--dev` |", "| --- | --- |"]
    lines += [f"| `{name}` | {learner.epochs} |" for name, learner in LEARNERS.items()]
    for name, learner in LEARNERS.items():
        summary, _, arguments = getdoc(learner).partition("\n\nArgs:\n")
        meanings = {setting: " ".join(meaning.split()) for setting, meaning in _ARGUMENT.findall(arguments)}
        lines += ["", f"### `{name}`", "", " ".join(summary.split()), "", "| setting | default | meaning |"]
        lines += ["| --- | --- | --- |"]
        for setting in fields(learner):
            if setting.name != "seed":  # set by --seed
                lines.append(f"| `{setting.name}` | `{setting.default}` | {_cell(meanings[setting.name])} |")
    return "\n".join(lines) + "\n"


def _of_class(kind: Any, as_flags: bool = False) -> list[str]:
    """Return the options that a class declares as a table in Markdown, named as in Python or on the command line."""
    from tagweave.cli.console import in_flags
    from tagweave.cli.train import SETTINGS
    from tagweave.options import choices, declared

    rows = []
    for each in declared({"": kind}):
        name, text = each.name, each.fields[""].metadata["help"]
        if as_flags:
            value = each.about["metavar"] or "|".join(choices(each.kind)) or "true"
            name = f"--{name.replace('_', '-')} {value}" if each.has_flag else f"--set {name}={value}"
            text = in_flags(text, settings=lambda: SETTINGS)
        rows.append(f"| `{_cell(name)}` | {_field_default(each.fields[''])} | {_cell(text)} |")
    return ["", "| option | default | meaning |", "| --- | --- | --- |", *rows, ""] if rows else []


def _field_default(each: Field[Any]) -> str:
    """Return the default of a field; nothing where its help tells it, or where it is a switch."""
    if each.default is MISSING or each.default is False or each.default in (None, (), ""):
        return ""
    several = each.default if isinstance(each.default, tuple) else (each.default,)
    return f"`{','.join(f'{value:g}' if isinstance(value, float) else str(value) for value in several)}`"
