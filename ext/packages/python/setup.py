"""Builds the wheel around a library that is compiled already.

`make packages` copies this folder, puts bloom.so, VERSION and PLATFORM (the wheel's platform tag)
into the copy, and runs it there. Any Python 3 can use the library: it is no Python module.
"""
from pathlib import Path

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", Path("PLATFORM").read_text().strip()


setup(
    version=Path("VERSION").read_text().strip(),
    distclass=WithLibrary,
    cmdclass={"bdist_wheel": PlatformWheel},
)
