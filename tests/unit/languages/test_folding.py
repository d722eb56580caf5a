"""The characters that fold to a part of a name, against all of Unicode as this Python knows it."""

import sys
import unicodedata

import pytest

from lsptools.languages.python.folding import marks_of
from lsptools.workspace.words import python_pattern, word_test


def folds_to(name: str) -> set[str]:
    """By trying every character."""
    found = set()
    for code in range(128, sys.maxunicode + 1):
        character = chr(code)
        normal = unicodedata.normalize("NFKC", character)
        if (
            normal != character
            and normal in name
            and f"a{character}".isidentifier()
            and f"a{normal}".isidentifier()
        ):
            found.add(character)
    return found


@pytest.mark.parametrize(
    "name", ["abcdefghijklmnopqrstuvwxyz_", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "naïve", "名前"]
)
def test_no_character_is_forgotten(name: str) -> None:
    assert folds_to(name) <= set(marks_of(name))


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("file = 1", True),
        ("ﬁle = 1", True),
        ("𝐟ile = 1", True),
        ("x = 1", False),
        ("# -*- coding: latin-1 -*-", True),
        ("#!/bin/python\n# vim: set fileencoding=cp1252 :", True),
        ("# -*- coding: utf-8 -*-", False),
        ("# coding=UTF8", False),
        ("open(x, encoding='latin-1')", False),
        ("größer", False),
    ],
)
def test_marks_find_other_spellings_and_other_encodings(text: str, counts: bool) -> None:
    assert word_test(["file"], whole=True, marks=marks_of("file"))(text) == counts


def test_without_marks_only_words_count() -> None:
    assert python_pattern(["file"], whole=True).search("ﬁle # coding: latin-1".encode()) is None
