"""The documentation's site: links lead to pages of the site, and examples in docstrings are shown as code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from mkdocs.config import load_config

from scripts import site_pages
from scripts.doctest_fences import fenced


def test_files_that_pages_link_to_are_pages_of_the_site(project: Path) -> None:
    found = {
        str(path.relative_to(project)) for path in site_pages.linked_sources((project / "docs").glob("*.md"))
    }
    assert {"src/firesteel/control/loop.py", "examples/sqlite_tables.py"} <= found
    assert not [name for name in found if name.endswith(".md")]


def test_links_are_right_on_the_page_of_the_site(project: Path) -> None:
    text = "[a](../README.md#two-commands) [b](https://x.y) [c](quickstart.md) [d](../examples/word_count.py)"
    expected = (
        "[a](index.md#two-commands) [b](https://x.y) [c](quickstart.md) [d](source/examples/word_count.py.md)"
    )
    assert site_pages.relinked(project / "docs" / "page.md", text, "page.md") == expected
    assert (
        site_pages.relinked(project / "README.md", "[q](docs/quickstart.md)", "index.md")
        == "[q](quickstart.md)"
    )


def test_the_reference_has_every_module_with_pyflinks_names(project: Path) -> None:
    files = (project / "src/firesteel" / part / "pyflink_names.json" for part in ("datastream", "table"))
    names = [module for file in files for module in json.loads(file.read_text())]
    modules = {module.replace("pyflink", "firesteel", 1) for module in names}
    assert not modules - {*site_pages.PUBLIC_MODULES}
    assert all(find_spec(module) for module in site_pages.PUBLIC_MODULES)


def test_examples_in_docstrings_are_shown_as_code() -> None:
    assert list(fenced(["Add.", ">>> 1 + 1", "2"])) == ["Add.", "```pycon", ">>> 1 + 1", "2", "```"]
    assert list(fenced([">>> 1", "1", "", "More."])) == ["```pycon", ">>> 1", "1", "```", "", "More."]
    assert list(fenced(["No example."])) == ["No example."]


def test_every_page_is_in_the_navigation(project: Path) -> None:
    """The site is built strictly, but only by the whole check; this says it at once."""
    shown = set(_pages(load_config(str(project / "mkdocs.yml"), site_dir="unused").nav))
    assert {page.name for page in (project / "docs").glob("*.md")} <= shown


def test_links_to_files_of_the_project_lead_to_files(project: Path) -> None:
    pages = [project / "README.md", *(project / "docs").glob("*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)", page.read_text())]
    wrong = [
        f"{page.name}: {link}"
        for page, link in links
        if "://" not in link
        if not (page.parent / link).is_file()
    ]
    assert len(links) > 100
    assert not wrong


def _pages(nav: object) -> Iterator[str]:
    """Yield the pages of a navigation, which is a tree of lists and of dictionaries with a title each."""
    if isinstance(nav, str):
        yield nav
    else:
        assert isinstance(nav, list | dict)
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from _pages(part)
