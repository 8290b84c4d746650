"""The documentation's site: links lead to pages of the site, and examples in docstrings are shown as code."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

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
    names = json.loads((project / "src/firesteel/datastream/pyflink_names.json").read_text())
    modules = {module.replace("pyflink", "firesteel", 1) for module in names}
    assert not modules - {*site_pages.PUBLIC_MODULES}
    assert all(find_spec(module) for module in site_pages.PUBLIC_MODULES)


def test_examples_in_docstrings_are_shown_as_code() -> None:
    assert list(fenced(["Add.", ">>> 1 + 1", "2"])) == ["Add.", "```pycon", ">>> 1 + 1", "2", "```"]
    assert list(fenced([">>> 1", "1", "", "More."])) == ["```pycon", ">>> 1", "1", "```", "", "More."]
    assert list(fenced(["No example."])) == ["No example."]
