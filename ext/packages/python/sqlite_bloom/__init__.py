"""Bloom filters for SQLite: the loadable extension `bloom`.

    import sqlite3, sqlite_bloom
    db = sqlite3.connect(":memory:")
    sqlite_bloom.load(db)
    db.execute("SELECT bloom_contains(bloom_build('apple'), 'fig')")
"""
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, Union

__all__ = ["load", "loadable_path"]
__version__ = version("sqlite-bloom")


class _Sqlite3Connection(Protocol):
    """sqlite3.Connection, pysqlite3's."""

    def enable_load_extension(self, enable: bool, /) -> None: ...

    def load_extension(self, name: str, /) -> None: ...


class _ApswConnection(Protocol):
    """apsw.Connection, under the names that every version has."""

    def enableloadextension(self, enable: bool, /) -> None: ...

    def loadextension(self, filename: str, /) -> None: ...


def loadable_path() -> str:
    """The library's path without its suffix, as SQLite's load_extension takes it.

    SQLite adds the suffix. Given with it, its message about a library that it cannot load would
    name one with two.

    FileNotFoundError: this installation has no library, or one for another system.
    """
    name = {"Windows": "bloom.dll", "Darwin": "bloom.dylib"}.get(platform.system(), "bloom.so")
    path = Path(__file__).with_name(name)
    if not path.is_file():
        raise FileNotFoundError(
            f"sqlite_bloom has no {path}: this installation is not for "
            f"{platform.system()} {platform.machine()}. Install the wheel of this platform, or "
            "build the extension from its source"
        )
    return str(path.with_suffix(""))


def load(connection: Union[_Sqlite3Connection, _ApswConnection]) -> None:
    """Loads the extension into a connection of sqlite3, pysqlite3 or apsw.

    Afterwards the loading of extensions is off, as it is by default. RuntimeError: this Python
    cannot load extensions. What SQLite itself refuses is the driver's own error.
    """
    path = loadable_path()
    enable = getattr(connection, "enable_load_extension", None)
    if enable is None:
        enable = getattr(connection, "enableloadextension", None)
    load_extension = getattr(connection, "load_extension", None)
    if load_extension is None:
        load_extension = getattr(connection, "loadextension", None)
    if enable is None or load_extension is None:
        raise RuntimeError(
            "this Python's sqlite3 was built without the loading of extensions. Use the Python of "
            "python.org, Homebrew or your distribution, build yours with "
            "PYTHON_CONFIGURE_OPTS=--enable-loadable-sqlite-extensions, or use the package apsw or "
            "pysqlite3"
        )
    enable(True)
    try:
        load_extension(path)
    finally:
        enable(False)
