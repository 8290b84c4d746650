"""Pickles of functions and classes that nothing else can import."""

from __future__ import annotations

import pickle
import traceback

import pytest

from firesteel.common.pickles import dumps


def fail(value):
    return value // 0


class Failing:
    def fail(self, value):
        return [one // 0 for one in (value,)]


# Functions of a program's main module are pickled as a whole, as those of this module are not.
fail.__module__ = Failing.__module__ = "__main__"


def nested(value):
    return (lambda one: one // 0)(value)


nested.__module__ = "__main__"


@pytest.mark.parametrize("function", [fail, Failing().fail, nested], ids=["function", "method", "nested"])
def test_an_error_shows_the_line_of_a_function_that_was_pickled(function):
    copy = pickle.loads(dumps(function))
    with pytest.raises(ZeroDivisionError) as caught:
        copy(1)
    last = traceback.extract_tb(caught.tb)[-1]
    assert last.filename == __file__
    assert "// 0" in last.line


def test_equal_functions_have_equal_pickles():
    scope = {}
    for name in ("first", "second"):
        exec(compile("def same(value):\n    return value + 1\n", "any.py", "exec"), scope)
        scope[name] = scope["same"]
        scope[name].__module__ = "__main__"
    assert scope["first"] is not scope["second"]
    assert dumps(scope["first"]) == dumps(scope["second"])
