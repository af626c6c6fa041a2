"""What the tests here share: TAP, the extension in a connection, and random keys."""

import math
import os
import random
import sqlite3
import struct
import sys

import bloomfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
GOLDEN = os.path.join(ROOT, "tests", "golden")

failed = False


class Checks:
    """One TAP line: how many comparisons it made, and the first that were wrong."""

    def __init__(self, name):
        self.name, self.made, self.wrong = name, 0, []

    def equal(self, what, got, wanted):
        self.made += 1
        if got != wanted:
            self.wrong.append("%s: got %.300r, expected %.300r" % (what, got, wanted))

    def true(self, what, condition):
        self.equal(what, bool(condition), True)

    def near(self, what, got, wanted, relative):
        """Equal but for the last digits; None is equal to None only."""
        self.made += 1
        if got is None or wanted is None:
            close = got is wanted
        else:
            close = math.isclose(got, wanted, rel_tol=relative, abs_tol=0)
        if not close:
            self.wrong.append("%s: got %r, expected %r" % (what, got, wanted))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        global failed
        if error is not None:
            self.wrong.append("stopped by %s: %s" % (kind.__name__, error))
            import traceback

            self.wrong += traceback.format_tb(trace)[-3:]
        if self.made == 0:
            self.wrong.append("nothing was compared")
        print("%s format: %s (%d)" % ("not ok" if self.wrong else "ok", self.name, self.made))
        for line in self.wrong[:5]:
            print("# " + line.replace("\n", "\n# "))
        failed = failed or bool(self.wrong)
        sys.stdout.flush()
        return isinstance(error, Exception)


class Extension:
    """The C extension: functions by name, and aggregates over a list of keys."""

    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(os.path.join(BUILD, "bloom"))
        self.db.execute("CREATE TEMP TABLE keys(id INTEGER PRIMARY KEY, key)")

    def call(self, name, *arguments):
        marks = ", ".join("?" * len(arguments))
        return self.db.execute("SELECT %s(%s)" % (name, marks), arguments).fetchone()[0]

    def fill(self, keys):
        self.db.execute("DELETE FROM keys")
        self.db.executemany("INSERT INTO keys(key) VALUES (?)", ((key,) for key in keys))

    def build(self, keys, n, p, kind):
        self.fill(keys)
        sql = "SELECT bloom_build(key, ?, ?, ?) FROM (SELECT key FROM keys ORDER BY id)"
        return self.db.execute(sql, (n, p, kind)).fetchone()[0]

    def contains(self, blob, keys):
        self.fill(keys)
        sql = "SELECT bloom_contains(?, key) FROM keys ORDER BY id"
        return [answer for (answer,) in self.db.execute(sql, (blob,))]

    def verdict(self, function, *arguments):
        """('ok', value) or (the kind of error, None)."""
        try:
            return "ok", self.call(function, *arguments)
        except sqlite3.Error as error:
            text = str(error)
        for kind in ("not a bloom filter", "unsupported", "damaged filter"):
            if kind in text:
                return kind, None
        return "error", None


ERRORS = {
    bloomfile.NotAFilter: "not a bloom filter",
    bloomfile.Unsupported: "unsupported",
    bloomfile.Damaged: "damaged filter",
    bloomfile.Error: "error",
}


def verdict(operation, *arguments):
    """The same for an operation of bloomfile; a Filter as its bytes."""
    try:
        value = operation(*arguments)
    except bloomfile.Error as error:
        return ERRORS[type(error)], None
    return "ok", value.encode() if isinstance(value, bloomfile.Filter) else value


ALPHABET = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-_.@ \x00äöéßñ日本語Ωж🙂"


def random_number_text(rng):
    """A text that spells a number, or nearly."""
    size = rng.choice((1, 1, 2, 5, 14, 15, 16, 17, 18, 19, 20))
    digits = "".join(rng.choice("0123456789") for _ in range(size))
    zeros = "0" * rng.choice((0, 0, 0, 1, 4, 22))
    digits = rng.choice(("", "", "0", "00")) + digits + zeros
    if rng.random() < 0.1:
        digits = str(2**63 + rng.choice((-2, -1, 0, 1, 600, 2000)))
    if rng.random() < 0.5:
        at = rng.randrange(len(digits) + 1)
        digits = digits[:at] + "." + digits[at:]
    text = rng.choice(("", "", "", "-", "+")) + digits
    if rng.random() < 0.5:
        text += rng.choice("eE") + rng.choice(("", "-", "+"))
        ends = (290, 300, 307, 308, 309, 325, 99999, 1000000)
        text += str(rng.choice((0, 1, 2, 7, 15, 18, 22, 37) + ends))
    text = rng.choice(("", "", "", " ", "\t\n", "\r\x0b\x0c")) + text
    text += rng.choice(("", "", " ", "\n"))
    if rng.random() < 0.1:
        text += "\0" + rng.choice(("", "abc", "7", "e5", "long enough to be seen"))
    if rng.random() < 0.15:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice((" ", "x", "-", ".", "e", "\x00", "\u00a0", "٣")) + text[at:]
    return text


def random_real(rng):
    return rng.choice(
        (
            rng.uniform(-10, 10),
            float(rng.randrange(-50, 50)),
            rng.randrange(-50, 50) / 4,
            struct.unpack("<d", rng.randbytes(8))[0],
            rng.choice((0.0, -0.0, math.inf, -math.inf, 5e-324, 1e22, 1e23, 0.1, 2.0**63)),
            float("%de%d" % (rng.randrange(10**17), rng.randrange(-340, 310))),
            rng.randrange(2**52, 2**53) / 2 ** rng.randrange(1, 5),
            rng.choice((1e-307, 9.99999999999999e-308, 9.999999999999999e-308, 1e19, 2.0**1023)),
            rng.choice((1.79769313486231e308, 1.797693134862315e308, 1.7976931348623157e308)),
            rng.choice((-(2.0**63), 2.0**53, 2.0**53 + 2, 2.0**62, -(2.0**63) - 2048)),
        )
    )


def random_integer(rng):
    return rng.choice(
        (
            rng.randrange(-50, 50),
            rng.randrange(-(2**63), 2**63),
            rng.choice((1, -1)) * 2 ** rng.randrange(63) + rng.randrange(-1, 2),
            rng.choice((2**63 - 1, -(2**63), 2**53 + 1)),
        )
    )


def random_key(rng, depth=0):
    pick = rng.randrange(12)
    if pick < 3:
        return random_integer(rng)
    if pick < 5:
        return random_real(rng)
    if pick < 7:
        return random_number_text(rng)
    size = rng.choice((0, 1, 2, 3, 5, 8, 9, 16, 17, 40, 128, 129, 200, 240, 241, 300, 1024, 1100))
    size = rng.randrange(12) if rng.random() < 0.6 else size
    if pick < 9:
        return "".join(rng.choice(ALPHABET) for _ in range(size))
    if pick < 10 or depth > 1:
        return rng.randbytes(size)
    if pick < 11:
        parts = [random_key(rng, depth + 1) for _ in range(rng.randrange(1, 4))]
        return bloomfile.composite(*parts)
    return None


def random_p(rng):
    pick = rng.random()
    if pick < 0.2:
        return rng.choice((0.01, 0.1, 0.5, 1e-9, 0.999))
    if pick < 0.3:
        return rng.uniform(0.5, 1)
    return 10 ** rng.uniform(-9, 0)


def seeded(name):
    return random.Random("bloom format " + name)
