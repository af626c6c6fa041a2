#!/usr/bin/python3
"""Writes vectors.json, what other readers and writers are tested with; README.md describes it.

    python3 tests/format/vectors.py > tests/format/vectors.json
"""

import json
import math
import os
import struct

import bloomfile
from bloomfile import canonical, composite, decode, hash_form

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.json")
REASONS = {
    bloomfile.NotAFilter: "not a filter",
    bloomfile.Unsupported: "unsupported",
    bloomfile.Damaged: "damaged",
}


# Keys as JSON: integers as strings, since many readers of JSON have no 64 bits.


class Parts(tuple):
    """A composite key that is still known as its parts."""


class Range(tuple):
    """The integers from the first to the last."""


def to_json(key):
    if key is None:
        return None
    if isinstance(key, Range):
        return {"range": list(map(str, key))}
    if isinstance(key, Parts):
        return {"composite": [to_json(part) for part in key]}
    if isinstance(key, int):
        return {"integer": str(key)}
    if isinstance(key, float):
        return {"real": struct.pack(">d", key).hex()}
    if isinstance(key, str):
        return {"text": key}
    return {"blob": key.hex()}


def from_json(key):
    """The value of a key in the file; a composite one is made by the given function."""
    if key is None:
        return None
    ((kind, value),) = key.items()
    if kind == "integer":
        return int(value)
    if kind == "real":
        return struct.unpack(">d", bytes.fromhex(value))[0]
    if kind == "text":
        return value
    if kind == "blob":
        return bytes.fromhex(value)
    return Parts(map(from_json, value))


def value_of(key, make_composite=composite):
    return make_composite(*map(value_of, key)) if isinstance(key, Parts) else key


def expand(keys):
    """Keys of a step as values, ranges written out."""
    out = []
    for key in keys:
        out += range(key[0], key[1] + 1) if isinstance(key, Range) else [key]
    return out


# What goes in.

TEXTS = [
    "", "a", "apple", "Apple", "é", "e\u0301", "日本語", "Ελλάδα", "🙂", "a\x00b", "\x00", " ", "NaN",
    "inf", "0x10", "١٢", "١", "user@example.org", "x" * 17, "y" * 128, "z" * 129, "ä" * 120,
    "w" * 241, "v" * 1024, "u" * 1025, "2024-01-01",
]
INTEGERS = [
    0, 1, -1, 42, 255, 256, 2**31, -(2**31), 2**53, 2**53 + 1, -(2**53) - 1, 10**18, 2**63 - 1,
    -(2**63),
]
REALS = [
    0.5, -0.5, 0.1, 1.5, 1e22, 1e23, 1e300, -1e-300, 5e-324, 2.0**63, -(2.0**63) - 2048.0,
    math.inf, -math.inf, -0.0, 0.0, 42.0, 2.0**53, -(2.0**63), 1e15, 123456789012345.6,
    0.446381, 0.1 + 0.2, 0.3, 100000000000000.5, 1e19, 1e-307, -9.9e-308, 1.79769313486231e308,
    1.7976931348623157e308, 100000000000001.5, -(2.0**-22), 3 * 2.0**-22,
]
BLOBS = [
    b"", b"\0", b"apple", b"42", b"\xff\xfe", bytes(range(9)), bytes(range(100)), bytes(300),
]
SPELT = [
    "42", " 42", "42 ", "+42", "042", "42.0", "42.", "4.2e1", "420e-1", ".42E2", "-0", "0e99999",
    "-.0", "0.1", "1e-1", ".10", "\t1.5\n", "\x0b1.5\x0c", "1e22", "1e36", "1e37", "1e-22",
    "1e-23", "-1e300", "9007199254740993", "9007199254740993.0", "9007199254740993e0",
    "9223372036854775807", "9223372036854775807.0", "-9223372036854775808", "9223372036854775808",
    "-9223372036854775809", "18446744073709551616", "10000000000000000000", "123456789012345.6",
    "12345678901234.5", "1.", ".", "1e", "1e+", "e1", "--1", "+-1", "- 1", "1 2", "1_0", "1\x00",
    "\u00a01", "0" * 30 + "7", "0.5e", "5" + "0" * 30 + "e-30", "0." + "0" * 30 + "5e31",
    "1e100000", "1e-100001", "1e999999999999", "+.5E+0", "0.446381", "1\x00abc", " 1.5e0 \x001.5",
    "\x001", "1e\x005", "1e19", "0.30000000000000004", "0.1234567890123456789",
    "12345678901234567890.5", "4503599627370497.5", "9.2233720368547758e+18",
    "9223372036854775808.", "1e-307", "-1e-308", "9.999999999999999e-308", "1.79769313486231e308",
    "1.79769313486232e308",
    "1.7976931348623157e308", "-1e309", "1234567890123456e300", "123456789012345e22",
    "340e2740", "1.797693134862316e308",
]
PARTS = [
    Parts(("a", 1)), Parts(("a", "1.0")), Parts(("ab", "c")), Parts(("a", "bc")),
    Parts(("", b"")), Parts((b"", "")), Parts((-0.0, 0.5, math.inf)), Parts((2**53 + 1,)),
    Parts(("é", b"\xff", -7)), Parts(("a", composite("b", 2))), Parts(("a", "b", 2)),
    Parts((1, 2, 3, 4, 5, 6, 7, 8)),
]
ALL = TEXTS + INTEGERS + REALS + BLOBS + SPELT + PARTS

SIZES = [
    (1, 0.5), (1, 0.999), (1, 1e-9), (2, 0.3), (3, 0.1), (10, 0.01), (100, 2.0**-10),
    (1000, 0.01), (1000, 1e-6), (13662, 0.01), (13663, 0.01), (3038, 1e-9), (3100, 1e-9),
    (100000, 0.25), (100000, 0.5), (150000, 0.5), (1000000, 0.01), (1000000, 0.9),
    (10000000, 0.0001), (10**9, 0.03),
]


def names(first, count):
    return ["name-%d" % i for i in range(first, first + count)]


def step(do, keys=(), **fields):
    return {"do": do, **fields, "keys": list(keys)}


def make(do, n, p, keys=(), kind="plain"):
    return step(do, keys, n=n, p=p, kind=kind)


FILTERS = [
    ("no rows", [make("build", 100, 0.01)]),
    ("NULL keys only", [make("build", None, None, [None, None], "counting")]),
    ("no keys yet", [make("new", 10, 0.01)]),
    ("one key", [make("build", 1, 0.5, ["apple"])]),
    ("text", [make("build", 30, 0.001, TEXTS)]),
    ("integers", [make("build", 20, 0.001, INTEGERS)]),
    ("reals", [make("build", 30, 0.001, REALS)]),
    ("blobs", [make("build", 10, 0.001, BLOBS)]),
    ("spelt numbers", [make("build", 100, 0.0001, SPELT)]),
    ("composite keys", [make("build", 12, 0.001, PARTS)]),
    ("everything, sized by its keys", [make("build", None, None, ALL + [None] + ALL[:50])]),
    ("p 1e-9", [make("build", 20, 1e-9, names(0, 20))]),
    ("p 0.95", [make("build", 200, 0.95, [Range((1, 200))])]),
    ("lines", [make("build", 13700, 0.01, [Range((1, 9000))])]),
    ("grown once", [make("build", 10, 0.01, names(0, 35))]),
    ("grown with keys in layer 0", [make("build", 64, 0.05, [Range((1, 130))])]),
    ("n 63 has none there", [make("build", 63, 0.05, [Range((1, 130))])]),
    ("grown from 1", [make("build", 1, 0.1, [Range((-100, 100))])]),
    ("n exactly", [make("build", 64, 0.02, names(0, 64))]),
    ("added", [make("new", 20, 0.01), step("add", names(0, 20) + [None, 1.0, "1"])]),
    ("added far beyond n", [make("new", 3, 0.05), step("add", [Range((1, 90))])]),
    ("added to a grown one", [make("build", 5, 0.02, names(0, 12)), step("add", names(12, 30))]),
    ("counting", [make("build", 20, 0.01, ["a", "a", "b", 3, 3.0, "3", None], "counting")]),
    (
        "counters at 15 stay",
        [
            make("build", 8, 0.05, ["often"] * 20 + ["once", "twice", "twice"], "counting"),
            step("remove", ["often"] * 20 + ["once", "twice", "never"]),
        ],
    ),
    ("counting, sized by its keys", [make("build", None, 0.02, names(0, 30) * 2, "counting")]),
    ("counting beyond n", [make("build", 4, 0.1, names(0, 40), "counting")]),
    (
        "union",
        [
            make("build", 30, 0.01, names(0, 12)),
            make("build", 30, 0.01, names(8, 12)),
            step("union"),
        ],
    ),
    (
        "union of grown ones",
        [
            make("build", 6, 0.05, names(0, 20)),
            make("build", 6, 0.05, names(30, 26)),
            step("union"),
        ],
    ),
    (
        "union of grown ones of one shape",
        [
            make("new", 6, 0.05),
            step("add", [Range((1, 30))]),
            make("new", 6, 0.05),
            step("add", [Range((20, 50))]),
            step("union"),
        ],
    ),
    (
        "union with no keys",
        [make("build", None, None), make("build", 5, 0.1, ["x"]), step("union")],
    ),
    (
        "intersection",
        [
            make("build", 30, 0.01, names(0, 20) + [5]),
            make("build", 30, 0.01, names(10, 20)),
            step("intersect"),
        ],
    ),
    (
        "intersection with no keys",
        [make("build", 5, 0.1, ["x"]), make("build", 5, 0.1), step("intersect")],
    ),
    (
        "union of counting ones",
        [
            make("build", 10, 0.05, ["a"] * 9 + ["b"], "counting"),
            make("build", 10, 0.05, ["a"] * 9 + ["c"], "counting"),
            step("union"),
        ],
    ),
    (
        "intersection of counting ones",
        [
            make("build", 10, 0.05, ["a"] * 9 + ["b", "d"], "counting"),
            make("build", 10, 0.05, ["a"] * 3 + ["c", "d"], "counting"),
            step("intersect"),
        ],
    ),
]


def run_steps(steps):
    stack = []
    for one in steps:
        keys = [value_of(key) for key in expand(one["keys"])]
        if one["do"] == "build":
            stack.append(bloomfile.build(keys, one["n"], one["p"], one["kind"]))
        elif one["do"] == "new":
            stack.append(bloomfile.new(one["n"], one["p"], one["kind"]))
        elif one["do"] in ("add", "remove"):
            stack.append(getattr(stack.pop(), one["do"])(*keys))
        else:
            stack[-2:] = [getattr(bloomfile, one["do"])(*stack[-2:])]
    (f,) = stack
    return f


def cells_of(f, key):
    """For each layer the cells of a key, in the order of its draws, with their values."""
    return [
        [[cell, layer.get(cell)] for cell in layer.positions(bloomfile.key_hash(key))]
        for layer in f.layers
    ]


def filter_entry(name, steps):
    f = run_steps(steps)
    put_in = []
    for one in steps:
        put_in += expand(one["keys"])
    probes = put_in if len(put_in) <= 200 else put_in[:: len(put_in) // 50]
    probes = probes + [None, "stranger", "", 0, b""] + names(100, 10) + list(range(1000, 1020))
    probes = {json.dumps(to_json(key)): key for key in probes}.values()
    return {
        "name": name,
        "steps": [dict(one, keys=[to_json(key) for key in one["keys"]]) for one in steps],
        "blob": f.encode().hex(),
        "count": f.count(),
        "fpr": float("%.9g" % f.rate()),
        "contains": [[to_json(key), f.contains(value_of(key))] for key in probes],
        "cells": cells_of(f, "apple"),
    }


def hash_entry(key):
    form = canonical(value_of(key))
    return {
        "key": to_json(key),
        "type": bloomfile.TYPE_NAMES[form[0]],
        "canonical": form[1].hex(),
        "hash": "%016x" % hash_form(form),
    }


def size_entry(n, p):
    lines, line_bits, k, per_key = bloomfile.geometry(n, bloomfile.check_p(p))
    shape = {"lines": lines, "line_bits": line_bits, "k": k, "L": per_key}
    return {"n": n, "p": p, **shape, "bytes": bloomfile.size(n, p)}


def seal(blob, body=True):
    """Right checksums for changed bytes; the body's only if asked for."""
    head = 32 + 32 * blob[9]
    blob = bytearray(blob)
    if body:
        blob[24:32] = struct.pack("<Q", bloomfile.xxh3(bytes(blob[head + 8 :])))
    blob[head : head + 8] = struct.pack("<Q", bloomfile.xxh3(bytes(blob[:head])))
    return bytes(blob)


def changed(blob, at, value, size=1):
    return blob[:at] + value.to_bytes(size, "little") + blob[at + size :]


def rejected_entries():
    good = bloomfile.build(["apple", 42], 3, 0.1).encode()
    empty = bloomfile.Filter().encode()
    grown = bloomfile.build(names(0, 20), 4, 0.1).encode()
    counting = bloomfile.build(["apple"], 3, 0.1, "counting").encode()
    nan = struct.unpack("<I", struct.pack("<f", math.nan))[0]
    bad = [
        ("no bytes", b""),
        ("four bytes", good[:4]),
        ("text", b"this is no filter at all, but a text of more than forty bytes"),
        ("read as text and written as UTF-8", good.decode("latin-1").encode()),
        ("39 bytes", empty[:39]),
        ("the last byte missing", good[:-1]),
        ("a byte more", good + b"\0"),
        ("a byte more, sealed", seal(good + b"\0")),
        ("a byte missing, sealed", seal(grown[:-1])),
        ("version 2", seal(changed(good, 4, 2))),
        ("version 2, not sealed", changed(good, 4, 2)),
        ("kind 3", seal(changed(good, 5, 3))),
        ("kind 0", seal(changed(good, 5, 0))),
        ("hash scheme 2", seal(changed(good, 6, 2))),
        ("a reserved flag", seal(changed(good, 7, 0x10))),
        ("a reserved key type", seal(changed(good, 8, 0x10))),
        ("65 layers", changed(good, 9, 65)),
        ("byte 10 not 0", seal(changed(good, 10, 1))),
        ("p NaN", seal(changed(changed(good, 12, nan, 4), 56, nan, 4))),
        ("p not the rate of layer 0", seal(changed(good, 12, 0x3F000000, 4))),
        ("n 0", seal(changed(changed(good, 16, 0, 8), 32, 0, 8))),
        ("n 2^63", seal(changed(changed(good, 16, 1 << 63, 8), 32, 1 << 63, 8))),
        ("n not the capacity of layer 0", seal(changed(good, 16, 4, 8))),
        ("lines 0", seal(changed(good, 40, 0, 8))),
        ("lines 2^39 + 1", seal(changed(good, 40, (1 << 39) + 1, 8))),
        ("line_bits 1", seal(changed(good, 48, 1, 8))),
        ("line_bits 2^64 - 1", seal(changed(good, 48, (1 << 64) - 1, 8))),
        ("k 0", seal(changed(good, 60, 0))),
        ("k 65", seal(changed(good, 60, 65))),
        ("L 2 in a flat layer", seal(changed(good, 61, 2))),
        ("byte 30 of the entry not 0", seal(changed(good, 62, 1))),
        ("a bit of the header", changed(good, 16, 2)),
        ("a bit of the body", changed(good, 72, good[72] ^ 1)),
        ("the body checksum, header sealed", seal(changed(good, 24, good[24] ^ 1), body=False)),
        ("a bit behind the last cell, sealed", seal(changed(good, 74, good[74] | 2))),
        ("no layers, but n 1", seal(changed(empty, 16, 1, 8))),
        ("no layers, but p -0.0", seal(changed(empty, 12, 1 << 31, 4))),
        ("no layers, but counting", seal(changed(empty, 5, 2))),
        ("a counting filter of two layers", two_layers(counting)),
    ]
    for name, blob in bad:
        try:
            decode(blob)
        except bloomfile.Rejected as error:
            yield {"name": name, "reason": REASONS[type(error)], "blob": blob.hex()}
        else:
            raise AssertionError("not rejected: " + name)


def two_layers(blob):
    f = decode(blob)
    f.layers.append(f.layers[0])
    return f.encode()


def document():
    parts = {
        "about": ["Test vectors for ext/FORMAT.md. README.md beside this file describes them."],
        "hashes": [hash_entry(key) for key in ALL],
        "sizes": [size_entry(n, p) for n, p in SIZES],
        "filters": [filter_entry(name, steps) for name, steps in FILTERS],
        "rejected": list(rejected_entries()),
    }
    out = []
    for part, entries in parts.items():
        lines = [json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries]
        out.append(json.dumps(part) + ": [\n" + ",\n".join(lines) + "\n]")
    return "{\n" + ",\n".join(out) + "\n}\n"


# The test: the file is what this program writes, and the extension says the same.


def extension_value(ext, key):
    return value_of(key, lambda *parts: ext.call("bloom_key", *parts))


def extension_steps(ext, steps):
    stack = []
    for one in steps:
        keys = []
        for key in one["keys"]:
            if key is not None and "range" in key:
                first, last = map(int, key["range"])
                keys += range(first, last + 1)
            else:
                keys.append(extension_value(ext, from_json(key)))
        if one["do"] == "build":
            stack.append(ext.build(keys, one["n"], one["p"], one["kind"]))
        elif one["do"] == "new":
            stack.append(ext.call("bloom_new", one["n"], one["p"], one["kind"]))
        elif one["do"] in ("add", "remove"):
            for key in keys:
                stack.append(ext.call("bloom_" + one["do"], stack.pop(), key))
        else:
            stack[-2:] = [ext.call("bloom_" + one["do"], *stack[-2:])]
    (blob,) = stack
    return blob


def test(ext, Checks):
    with open(PATH, encoding="utf-8", newline="") as file:
        text = file.read()
    kept = json.loads(text)
    with Checks("vectors.json is what vectors.py writes, and under 200 kB") as checks:
        for mine, theirs in zip(text.split("\n"), document().split("\n"), strict=True):
            checks.equal("line", mine, theirs)
        checks.true("%d bytes" % len(text.encode()), len(text.encode()) < 200000)
    with Checks("vectors.json: hashes and sizes, by the extension") as checks:
        any_filter = ext.call("bloom_new", 1, 0.5)
        for entry in kept["hashes"]:
            key = extension_value(ext, from_json(entry["key"]))
            told = json.loads(ext.call("bloom_explain", any_filter, key))
            got, wanted = (told["key_type"], told["hash"]), (entry["type"], entry["hash"])
            checks.equal(entry["key"], got, wanted)
        for entry in kept["sizes"]:
            n, p = entry["n"], entry["p"]
            checks.equal((n, p), ext.call("bloom_size", n, p), entry["bytes"])
    with Checks("vectors.json: filters, by the extension") as checks:
        for entry in kept["filters"]:
            blob = extension_steps(ext, entry["steps"])
            checks.equal(entry["name"], blob.hex(), entry["blob"])
            keys = [extension_value(ext, from_json(key)) for key, _ in entry["contains"]]
            answers = [answer for _, answer in entry["contains"]]
            checks.equal(entry["name"] + " contains", ext.contains(blob, keys), answers)
            checks.equal(entry["name"] + " count", ext.call("bloom_count", blob), entry["count"])
            told = json.loads(ext.call("bloom_explain", blob, "apple"))["layers"]
            cells = [list(map(list, zip(one["positions"], one.get("bits") or one["counters"])))
                     for one in told]
            checks.equal(entry["name"] + " cells", cells, entry["cells"])
            checks.near(entry["name"] + " fpr", ext.call("bloom_fpr", blob), entry["fpr"], 1e-8)
    with Checks("vectors.json: what is rejected, by the extension") as checks:
        names = {"not a bloom filter": "not a filter", "damaged filter": "damaged"}
        for entry in kept["rejected"]:
            got = ext.verdict("bloom_info", bytes.fromhex(entry["blob"]))[0]
            checks.equal(entry["name"], names.get(got, got), entry["reason"])


if __name__ == "__main__":
    import sys

    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.write(document())
