"""The description of the service in OpenAPI 3.1, made from its routes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from firesteel.rest.calls import VERSION, Right, Route, RouteGroup

_PARAMETER: Final = re.compile(r":(\w+)")
_ERROR: Final = {"$ref": "#/components/schemas/Errors"}
_ERRORS: Final = {
    "type": "object",
    "required": ["errors"],
    "properties": {"errors": {"type": "array", "items": {"type": "string"}}},
}


def description(groups: Iterable[RouteGroup]) -> dict[str, Any]:
    """Return the document."""
    routes = [route for group in groups for route in group]
    bodies = [route.body for route in routes if route.body is not None]
    schemas, components = msgspec.json.schema_components(bodies, ref_template="#/components/schemas/{name}")
    by_route = dict(zip((id(route) for route in routes if route.body is not None), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = route.prefixes[-1] + _PARAMETER.sub(r"{\1}", route.path.rstrip("*"))
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, by_route.get(id(route)))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Firesteel",
            "version": VERSION,
            "description": "Flink's REST, served by Firesteel",
        },
        "paths": paths,
        "components": {
            "schemas": {**components, "Errors": _ERRORS},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(route: Route, body: dict[str, Any] | None) -> dict[str, Any]:
    places = [("path", name) for name in _PARAMETER.findall(route.path)]
    places += [("query", name) for name in route.query]
    operation: dict[str, Any] = {
        "operationId": _name(route),
        "summary": route.summary,
        "description": f"Requires the {route.right.name.lower()}'s right.",
        "parameters": [
            {"name": name, "in": place, "required": place == "path", "schema": {"type": "string"}}
            for place, name in places
        ],
        "responses": {str(route.status): _answer(route), **{code: _refused(code) for code in _codes(route)}},
    }
    if route.takes_files:
        operation["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}}
    elif body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return operation


_FORM: Final = {
    "type": "object",
    "required": ["jarfile"],
    "properties": {"jarfile": {"type": "string", "format": "binary"}},
}
_TEXTS: Final = {
    "400": "It cannot be read.",
    "401": "A token is required.",
    "403": "The token is not enough.",
}
_TEXTS_MORE: Final = {
    "404": "There is no such thing.",
    "500": "The operation failed.",
    "501": "The system cannot do it.",
}


def _codes(route: Route) -> list[str]:
    codes = ["400", "401", "403", "404", "408"]
    if route.path.endswith("flamegraph"):
        codes.append("501")
    if "triggerid" in route.path:
        codes.append("500")
    if route.right is not Right.VIEWER:
        codes.append("409")
    if route.right is not Right.VIEWER or route.body is not None:
        codes.append("413")
    if "after" in route.query:
        codes.append("410")
    return codes


def _answer(route: Route) -> dict[str, Any]:
    return {"description": "The answer.", "content": {kind: {} for kind in route.produces}}


def _refused(code: str) -> dict[str, Any]:
    text = (_TEXTS | _TEXTS_MORE).get(code, "It is refused.")
    return {"description": text, "content": {"application/json": {"schema": _ERROR}}}


def _name(route: Route) -> str:
    parts = [part.strip(":*") for part in route.path.split("/") if part]
    return "_".join([route.method.lower(), *parts]).replace("-", "_")
