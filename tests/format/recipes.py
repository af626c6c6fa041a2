"""The recipes of tests/golden/README.md, made with bloomfile."""

import struct
from collections import Counter

import bloomfile


def read_key(fields):
    kind, value = fields
    if kind == "i":
        return int(value)
    if kind == "r":
        return struct.unpack(">d", bytes.fromhex(value))[0]
    if kind == "t":
        return bytes.fromhex(value).decode("utf-8", "surrogateescape")
    if kind == "b":
        return bytes.fromhex(value)
    raise ValueError("no such key type: " + kind)


def read_keys(line):
    kind, *fields = line
    if kind == "s":
        return list(range(int(fields[0]), int(fields[1]) + 1))
    if kind == "k":
        parts = [read_key(fields[i : i + 2]) for i in range(0, len(fields), 2)]
        return [bloomfile.composite(*parts)]
    return [read_key(line)]


def instructions(path):
    """A recipe as a list of (instruction, its arguments, its keys)."""
    steps = []
    with open(path, encoding="ascii") as file:
        for text in file:
            line = text.rstrip("\n").split("\t")
            if line == [""] or line[0].startswith("#"):
                continue
            if line[0] in ("build", "new", "add", "remove", "union", "intersect"):
                steps.append((line[0], line[1:], []))
            else:
                steps[-1][2].extend(read_keys(line))
    return steps


def make(steps):
    """The filter of a recipe, and its members as a Counter of canonical forms."""
    stack = []
    for step, arguments, keys in steps:
        counts = Counter(map(bloomfile.canonical, keys))
        if step in ("build", "new"):
            n = None if arguments[0] == "-" else int(arguments[0])
            p = None if arguments[1] == "-" else float(arguments[1])
            if step == "build":
                stack.append((bloomfile.build(keys, n, p, arguments[2]), counts))
            else:
                stack.append((bloomfile.new(n, p, arguments[2]), Counter()))
        elif step == "add":
            f, members = stack.pop()
            stack.append((f.add(*keys), members + counts))
        elif step == "remove":
            f, members = stack.pop()
            stack.append((f.remove(*keys), members - counts))
        else:
            (f, members), (g, others) = stack[-2:]
            if step == "union":
                stack[-2:] = [(bloomfile.union(f, g), members + others)]
            else:
                stack[-2:] = [(bloomfile.intersect(f, g), members & others)]
    ((f, members),) = stack
    return f, members
