"""What `import lsptools` offers: each name where the table says, and the same for type checkers."""

import ast
import inspect

import pytest

import lsptools


def test_every_public_name_is_there() -> None:
    for name in lsptools.__all__:
        assert getattr(lsptools, name) is not None
    assert set(lsptools.__all__) <= set(dir(lsptools))


def test_type_checkers_see_the_same() -> None:
    tree = ast.parse(inspect.getsource(lsptools))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: each.module
        for each in guarded.body
        if isinstance(each, ast.ImportFrom)
        for alias in each.names
        if alias.asname == alias.name
    }
    assert seen == lsptools._HOME


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        lsptools.nothing  # noqa: B018  # asking is the test
