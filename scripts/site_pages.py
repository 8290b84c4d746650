"""The pages of the documentation's site that are not in docs/: a hook of MkDocs.

The site has the pages of `docs/` and those in the project's root (README.md becomes the first page). It has a page of
API reference per public module, made of the docstrings, and a page per source file that another page links to. So every
link works within the site, and `mkdocs build` fails for a link that leads nowhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).parents[1]
ROOT_PAGES: Final = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "report.md",
}
"""Pages of the project's root, and what they are called within the site."""

PUBLIC_MODULES: Final = (
    "firesteel.common",
    "firesteel.datastream",
    "firesteel.datastream.functions",
    "firesteel.datastream.state",
    "firesteel.datastream.window",
    "firesteel.datastream.connectors.base",
    "firesteel.datastream.connectors.file_system",
    "firesteel.datastream.connectors.jdbc",
    "firesteel.datastream.connectors.kafka",
    "firesteel.datastream.connectors.number_seq",
    "firesteel.datastream.formats.avro",
    "firesteel.datastream.formats.csv",
    "firesteel.datastream.formats.json",
    "firesteel.datastream.formats.parquet",
    "firesteel.table",
    "firesteel.table.catalog",
    "firesteel.table.expressions",
    "firesteel.table.process_tables",
    "firesteel.table.udf",
    "firesteel.table.window",
    "firesteel.cep",
    "firesteel.connectors.datagen",
    "firesteel.connectors.sql",
    "firesteel.functions.checkpointed",
    "firesteel.functions.models",
    "firesteel.functions.sink",
    "firesteel.functions.source",
    "firesteel.dbapi",
    "firesteel.queryable",
    "firesteel.state_processor",
    "firesteel.testing",
)
"""The modules programs import from, in the order of the reference."""

_LINK: Final = re.compile(r"(?<=\]\()([^)\s#]+)((?:#[^)\s]*)?)(?=\))")
_LANGUAGES: Final = {".py": "python", ".sh": "sh", ".toml": "toml"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the modules of the API reference into the navigation."""
    for entry in config.nav or []:
        if "API reference" in entry:
            entry["API reference"] = [{module: _api_page(module)} for module in PUBLIC_MODULES]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    pages = [ROOT / "docs" / file.src_uri for file in files.documentation_pages()]
    pages += [ROOT / name for name in ROOT_PAGES]
    for name, uri in ROOT_PAGES.items():
        files.append(
            File.generated(config, uri, content=relinked(ROOT / name, (ROOT / name).read_text(), uri))
        )
    for module in PUBLIC_MODULES:
        files.append(File.generated(config, _api_page(module), content=f"# {module}\n\n::: {module}\n"))
    for source in sorted(set(linked_sources(pages))):
        files.append(File.generated(config, _source_page(source), content=_shown(source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links that leave docs/ to the pages of the site."""
    original = ROOT / "docs" / page.file.src_uri
    return relinked(original, markdown, page.file.src_uri) if original.exists() else markdown


def _api_page(module: str) -> str:
    return f"api/{module}.md"


def _source_page(source: Path) -> str:
    return f"source/{source.relative_to(ROOT)}.md"


def linked_sources(pages: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that pages link to and that are no pages themselves."""
    for page in pages:
        for match in _LINK.finditer(page.read_text()):
            target = (page.parent / match[1]).resolve()
            if target.is_file() and target.is_relative_to(ROOT) and not _is_page(target):
                yield target


def _is_page(target: Path) -> bool:
    return target.is_relative_to(ROOT / "docs") or str(target.relative_to(ROOT)) in ROOT_PAGES


def relinked(original: Path, markdown: str, uri: str) -> str:
    """Rewrite links that are relative to `original` so that they are right on the page `uri` of the site."""

    def rewrite(match: re.Match[str]) -> str:
        target = (original.parent / match[1]).resolve()
        if "://" in match[1] or not target.is_file() or not target.is_relative_to(ROOT):
            return match[0]
        return os.path.relpath(_uri_of(target), PurePosixPath(uri).parent) + match[2]

    return _LINK.sub(rewrite, markdown)


def _uri_of(target: Path) -> str:
    if target.is_relative_to(ROOT / "docs"):
        return str(target.relative_to(ROOT / "docs"))
    return ROOT_PAGES.get(str(target.relative_to(ROOT))) or _source_page(target)


def _shown(source: Path) -> str:
    """Return the page that shows a source file."""
    language = _LANGUAGES.get(source.suffix, "text")
    return f'# {source.relative_to(ROOT)}\n\n````{language} linenums="1"\n{source.read_text()}````\n'
