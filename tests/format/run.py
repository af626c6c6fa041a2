#!/usr/bin/python3
"""ext/FORMAT.md as Python against the document, the kept files and the extension. Prints TAP."""

import glob
import json
import math
import os
import re
import struct
import sys

import bloomfile
import harness
import recipes
import vectors
from bloomfile import Error, build, canonical, decode, float32, is_null, key_hash
from harness import Checks, Extension, seeded, verdict

ext = Extension()


class Absent:
    """Absent keys asked of filters whose rate is known: found within 5 sigma of the expected."""

    def __init__(self):
        self.asked = self.found = 0
        self.expected = self.variance = 0.0

    def ask(self, f, count, first):
        rate = f.rate()
        self.asked += count
        self.found += sum(f.contains(first + i) for i in range(count))
        self.expected += count * rate
        self.variance += count * rate * (1 - rate)

    def check(self, checks):
        sigma = math.sqrt(self.variance)
        difference = abs(self.found - self.expected)
        text = "%d of %d absent keys found, %.1f expected, sigma %.1f"
        text %= self.found, self.asked, self.expected, sigma
        checks.true(text, self.asked >= 5000 and difference <= 5 * sigma)


# The document's own examples.


def section(title):
    with open(os.path.join(harness.ROOT, "ext", "FORMAT.md"), encoding="utf-8") as file:
        text = file.read()
    return text.split("\n## %s\n" % title)[1].split("\n## ")[0]


def rows(text, columns):
    """The cells of the tables with that many columns, without their head lines."""
    out = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == columns and not cells[0].startswith("---"):
            out.append(cells)
    return out


def test_document():
    with Checks("the reference hashes of FORMAT.md") as checks:
        spelt = {"integer": int, "real": float, "text": str}
        for keys, wanted in rows(section("Keys"), 2):
            for key in keys.split(", ") if re.match("`[0-9a-f]{16}`$", wanted) else ():
                kind, _, value = key.replace("`", "").replace("infinity", "inf").partition(" ")
                if kind == "empty":
                    value = {"text": "", "blob": b""}[value]
                else:
                    value = spelt[kind](value.split(" ")[0])
                checks.equal(key, "`%016x`" % key_hash(value), wanted)
        checks.true("every key of the table", checks.made == 16)
    with Checks("the sizing examples of FORMAT.md") as checks:
        for n, rate, flat, lines, shape in rows(section("Sizing"), 5)[1:]:
            numbers = list(map(int, re.findall("[0-9]+", shape)))
            r = float32(float(rate))
            count, bits, k, _ = bloomfile.geometry(int(n), r)
            if shape.startswith("flat"):
                checks.equal(n, [count, k, bits], [1] + numbers)
            else:
                wanted = numbers[:2] + [(numbers[1] + 3) // 4]
                checks.equal(n, [count, k, bloomfile.lines_of_key(k)], wanted)
            for text, units in ((flat, bloomfile.u_flat), (lines, bloomfile.u_lines)):
                k0 = max(1, math.floor(-math.log2(r)))
                for i, u in enumerate(re.findall("[0-9]+", text)):
                    checks.equal(n + " " + units.__name__, units(k0 + i, r), int(u))
    with Checks("the positions of FORMAT.md") as checks:
        h = key_hash("apple")
        table = rows(section("Positions"), 4)[1:]
        for j, a, _, _ in table:
            checks.equal("a_" + j, "`%016x`" % ((h | 1) * bloomfile.POWERS[int(j)] % 2**64), a)
        flat = bloomfile.Layer(1, 1, 0.5, (1, 17, 3, 1)).positions(h)
        checks.equal("flat", ["cell %d" % c for c in flat], [r[2] for r in table if "cell" in r[2]])
        lines = bloomfile.Layer(1, 1, 0.5, (258, 512, 7, 2)).positions(h)
        wanted = [int(r[3].split()[-1]) for r in table if "cell" in r[3]]
        checks.equal("lines", lines, wanted)
    with Checks("the worked bytes of FORMAT.md") as checks:
        made = [
            build([]).encode(),
            build(["apple", 42, "1.5"], 3, 0.1).encode(),
            build(["apple", "apple", 42], 2, 0.3, "counting").encode()[0x48:],
        ]
        blocks = section("Worked bytes").split("```")[1::2]
        for block, blob in zip(blocks, made, strict=True):
            lines = re.findall(r"^[0-9a-f]{2}  ((?:[0-9a-f]{2} ?)+)", block, re.M)
            checks.equal("bytes", blob, bytes.fromhex("".join(lines)))
        key = bloomfile.composite("a", "1.0")
        text = section("Composite keys")
        checks.true("composite", key.hex() in text.replace(" ", ""))
        checks.true("its hash", "hash %016x" % key_hash(key) in text)
    number = re.compile("real (-?[0-9]+) × 10\\^(-?[0-9]+)")
    with Checks("the decimals of FORMAT.md") as checks:
        for real, form, numbers in rows(section("Keys").split("### Numbers spelt")[0], 3)[1:]:
            if not re.match("[-0-9.e]+$", real):
                continue
            told = number.match(form)
            if form == "integer 0":
                wanted = bloomfile.INTEGER, bytes(8)
            else:
                wanted = bloomfile.REAL, struct.pack("<qi", *map(int, numbers.split(", ")))
            checks.equal(real, canonical(float(real)), wanted)
            if told:
                checks.equal(form, ", ".join(told.groups()), numbers)
        checks.true("every real of the table", checks.made == 10 + 8)
    with Checks("the spelt numbers of FORMAT.md") as checks:
        table = rows(section("Keys").split("### Numbers spelt")[1], 3)[1:]
        for texts, form, _ in table:
            texts = texts.replace("the empty text", "``").replace("` and a zero byte", "\0`")
            for text in re.findall("`([^`]*)`", texts):
                kind, *value = form.split(":")[0].split(" ")
                if kind == "text":
                    wanted = bloomfile.TEXT, text.encode()
                elif form == "that integer":
                    wanted = canonical(int(text))
                elif kind == "integer":
                    wanted = canonical(int(value[0]))
                else:
                    numbers = map(int, number.match(form).groups())
                    wanted = bloomfile.REAL, struct.pack("<qi", *numbers)
                checks.equal(text, canonical(text), wanted)
        checks.true("40 texts or so", checks.made >= 40)


# The kept files.


def facts():
    with open(os.path.join(harness.GOLDEN, "facts.tsv"), encoding="ascii") as file:
        return {line.split("\t")[0]: line.rstrip("\n").split("\t")[1:] for line in file}


def test_golden():
    known = facts()
    absent = Absent()
    for path in sorted(glob.glob(os.path.join(harness.GOLDEN, "*.bloom"))):
        name = os.path.basename(path)[:-6]
        with Checks("golden " + name) as checks:
            with open(path, "rb") as file:
                blob = file.read()
            f = decode(blob)
            checks.equal("encoded again", f.encode(), blob)
            made, members = recipes.make(recipes.instructions(path[:-5] + "recipe"))
            checks.equal("made from its recipe", made.encode(), blob)
            hashes = map(bloomfile.hash_form, members)
            checks.equal("members", sum(map(f.contains_hash, hashes)), len(members))
            checks.true("it has members", members or not f.key_types)
            count = f.count()
            answers = [f.contains(1000000 + i) for i in range(256)]
            answers = sum(bit << i for i, bit in enumerate(answers)).to_bytes(32, "little")
            found = [str(len(blob)), "NULL" if count is None else str(count), "%.9g" % f.rate()]
            checks.equal("facts", found + [answers.hex()], known[name])
            absent.ask(f, 1000, 900000000000)
    with Checks("golden: absent keys") as checks:
        absent.check(checks)


# Against the extension.


def test_keys():
    rng = seeded("keys")
    blob = ext.call("bloom_new", 20000, 0.001)
    f = decode(blob)
    with Checks("keys: type, hash and positions as bloom_explain has them") as checks:
        keys = [harness.random_key(rng) for _ in range(6000)]
        for key in keys + [harness.random_number_text(rng) for _ in range(6000)]:
            told = ext.call("bloom_explain", blob, key)
            if is_null(key):
                checks.equal("NULL", told, None)
                continue
            told = json.loads(told)
            form = canonical(key)
            h = bloomfile.hash_form(form)
            wanted = bloomfile.TYPE_NAMES[form[0]], "%016x" % h, f.layers[0].positions(h)
            got = told["key_type"], told["hash"], told["layers"][0]["positions"]
            checks.equal(repr(key), got, wanted)
    with Checks("keys: blobs and texts of every length to 1300") as checks:
        for size in range(1300):
            for key in (rng.randbytes(size), "".join(rng.choices("abcxyz", k=size))):
                told = json.loads(ext.call("bloom_explain", blob, key))
                checks.equal(repr(key), told["hash"], "%016x" % key_hash(key))
    with Checks("keys: numbers spelt with very many zeros") as checks:
        for zeros in (0, 9, 10, 99, 12345, 99999, 100000, 123456, 150000):
            for digits in (zeros, zeros * 10 + 7, zeros + 1, zeros - 20):
                texts = "1%se-%d" % ("0" * zeros, digits), "0.%s7e%d" % ("0" * zeros, digits)
                for key in texts + ("-%d.%se%06d" % (zeros, "0" * zeros, digits),):
                    told = json.loads(ext.call("bloom_explain", blob, key))
                    wanted = "%016x" % key_hash(key)
                    checks.equal(key[:9] + ".." + key[-9:], told["hash"], wanted)
    with Checks("composite keys: the bytes of bloom_key") as checks:
        for _ in range(2000):
            parts = [harness.random_key(rng) for _ in range(rng.randrange(1, 5))]
            got = ext.call("bloom_key", *parts)
            checks.equal(repr(parts), got, bloomfile.composite(*parts))


def test_sizes():
    rng = seeded("sizes")
    with Checks("sizes: bloom_size, n to 10^8") as checks:
        for _ in range(1500):
            n, p = int(10 ** rng.uniform(0, 8)), harness.random_p(rng)
            if bloomfile.size(n, p) < 10**9:
                checks.equal((n, p), ext.call("bloom_size", n, p), bloomfile.size(n, p))
        checks.true("at least 1000", checks.made >= 1000)
    with Checks("sizes: the layer of bloom_new") as checks:
        for _ in range(600):
            n, p = int(10 ** rng.uniform(0, 5.5)), harness.random_p(rng)
            kind = rng.choice(("plain", "counting"))
            ext.fill([])
            sql = "SELECT substr(bloom_new(?, ?, ?), 1, 64)"
            got = ext.db.execute(sql, (n, p, kind)).fetchone()[0]
            f = bloomfile.Filter(bloomfile.kind_number(kind), n, bloomfile.check_p(p))
            layer = f.p, bloomfile.geometry(n, f.p)
            wanted = bloomfile.Layer.ENTRY.pack(n, *layer[1][:2], f.p, *layer[1][2:], 0)
            checks.equal((n, p, kind), got[32:], wanted)
    with Checks("sizes: which n and p are allowed") as checks:
        edges = [1e-9, 1e-9 * (1 - 1e-13), 1e-9 * (1 - 1e-11), 9.9e-10, 0.0, -0.5, 1.0, 2.0]
        edges += [0.99999997, 0.99999998, 0.999999971, math.inf, 0.5, None]
        for p in edges:
            checks.equal(p, ext.verdict("bloom_new", 5, p), verdict(bloomfile.new, 5, p))
        for n in (1, 0, -1, 2**63 - 1):
            checks.equal(n, ext.verdict("bloom_size", n, 1e-9), verdict(bloomfile.size, n, 1e-9))


def compare_info(checks, what, blob, f):
    told = json.loads(ext.call("bloom_info", blob))
    wanted = f.info(len(blob))
    tables = told.pop("layer_table"), wanted.pop("layer_table")
    checks.equal(what + " info: layers", len(tables[0]), len(tables[1]))
    pairs = [(told, wanted)] + list(zip(*tables))
    for got, want in pairs:
        checks.equal(what + " info: fields", sorted(got), sorted(want))
        for field, value in want.items():
            if isinstance(value, float):
                checks.near(what + " info: " + field, got[field], value, 1e-6)
            else:
                checks.equal(what + " info: " + field, got[field], value)
    checks.equal(what + " bloom_count", ext.call("bloom_count", blob), f.count())
    checks.near(what + " bloom_fpr", ext.call("bloom_fpr", blob), f.rate(), 1e-12)


class Pair:
    """A filter made twice: by the extension, as a blob, and by bloomfile, from nothing of it."""

    def __init__(self, checks, what, got, wanted):
        checks.equal(what, got, wanted.encode())
        self.blob, self.f = got, wanted


def random_keys(rng, most):
    keys = [harness.random_key(rng) for _ in range(rng.randrange(most + 1))]
    return keys + rng.choices(keys, k=len(keys) // 3) if keys else keys


def random_start(checks, rng, n, p, kind, most):
    keys = random_keys(rng, most)
    what = "n %s p %s %s keys %d" % (n, p, kind, len(keys))
    if n is not None and rng.random() < 0.2:
        got = ext.call("bloom_new", n, p, kind)
        return Pair(checks, what, got, bloomfile.new(n, p, kind)), [], what
    pair = Pair(checks, what, ext.build(keys, n, p, kind), build(keys, n, p, kind))
    return pair, keys, what


def random_step(checks, rng, pair, members, what):
    """One operation on both sides: the pair afterwards, or the one before if it is an error."""
    f = pair.f
    step = rng.choice(("add", "remove", "union", "intersect"))
    if step in ("add", "remove"):
        some = members if step == "remove" and rng.random() < 0.9 else random_keys(rng, 12)
        keys = rng.sample(some, min(len(some), rng.randrange(1, 30))) or [None]
        got = ext.verdict("bloom_" + step, pair.blob, *keys)
        want = verdict(getattr(f, step), *keys)
    else:
        kind = bloomfile.KIND_NAMES[f.kind]
        n, p = (f.n, max(f.p, 1e-9)) if f.layers and rng.random() < 0.9 else (7, 0.02)
        other, keys, _ = random_start(checks, rng, n, p, kind, 60)
        got = ext.verdict("bloom_" + step, pair.blob, other.blob)
        want = verdict(getattr(bloomfile, step), f, other.f)
    checks.equal(what + " " + step, got, want)
    if want[0] != "ok":
        return pair, members
    pair.blob, pair.f = got[1], decode(want[1])
    if step == "remove":
        return pair, []
    return pair, [key for key in members if step != "intersect" or key in keys]


def random_filter(checks, rng, absent, most):
    n = rng.choice((None, 1, 2, rng.randrange(1, 12), rng.randrange(1, 2 * most)))
    p = None if rng.random() < 0.1 else harness.random_p(rng)
    pair, members, what = random_start(checks, rng, n, p, rng.choice(("plain", "counting")), most)
    asked = list(members)
    for _ in range(rng.choice((0, 0, 1, 2, 3))):
        removed = bool(members)
        pair, members = random_step(checks, rng, pair, members, what)
        what += "+"
    probes = asked + [harness.random_key(rng) for _ in range(40)]
    answers = [pair.f.contains(key) for key in probes]
    checks.equal(what + " bloom_contains", ext.contains(pair.blob, probes), answers)
    compare_info(checks, what, pair.blob, pair.f)
    checks.equal(what + " decoded", decode(pair.blob).encode(), pair.blob)
    wanted = [key for key in members if not is_null(key)]
    checks.equal(what + " members", sum(map(pair.f.contains, wanted)), len(wanted))
    absent.ask(pair.f, 40, 10**15)


def test_random():
    for part in range(6):
        rng, absent = seeded("random %d" % part), Absent()
        with Checks("random filters, part %d: bytes, answers, info, count, rate" % part) as checks:
            for i in range(150):
                random_filter(checks, rng, absent, 4 if i % 3 == 0 else 120)
            absent.check(checks)


def test_growth():
    rng = seeded("growth")
    for step in ("build", "add"):
        with Checks("growth by bloom_%s, to 8 n keys at any p" % step) as checks:
            grown = 0
            for _ in range(150):
                n = rng.randrange(1, 40) if rng.random() < 0.6 else rng.randrange(60, 130)
                p = rng.uniform(0.4, 1) if rng.random() < 0.4 else harness.random_p(rng)
                keys = [rng.getrandbits(40) for _ in range(rng.randrange(1, 8 * n + 1))]
                what = "n %d p %r keys %d" % (n, p, len(keys))
                if step == "build":
                    f = build(keys, n, p)
                    checks.equal(what, ext.build(keys, n, p, "plain"), f.encode())
                else:
                    f, blob = bloomfile.new(n, p), ext.call("bloom_new", n, p)
                    for at in range(0, len(keys), 50):
                        f = f.add(*keys[at : at + 50])
                        blob = ext.call("bloom_add", blob, *keys[at : at + 50])
                    checks.equal(what, blob, f.encode())
                grown += len(f.layers) > 1
            checks.true("most of them grew: %d" % grown, grown > 75)


def test_large():
    rng = seeded("large")
    for n, p, kind, count in (
        (13700, 0.01, "plain", 13700),
        (3200, 1e-9, "plain", 4000),
        (30000, 0.05, "plain", 8000),
        (500, 0.1, "plain", 30000),
        (None, 0.003, "plain", 12000),
        (9400, 0.001, "counting", 5000),
        (200000, 0.6, "plain", 3000),
    ):
        with Checks("large: n %s, p %s, %s, %d keys" % (n, p, kind, count)) as checks:
            keys = [rng.getrandbits(40) for _ in range(count)]
            pair = Pair(checks, "bloom_build", ext.build(keys, n, p, kind), build(keys, n, p, kind))
            checks.equal("members", sum(map(pair.f.contains, keys)), count)
            probes = keys[:1000] + [2**50 + i for i in range(3000)]
            answers = [pair.f.contains(key) for key in probes]
            checks.equal("bloom_contains", ext.contains(pair.blob, probes), answers)
            compare_info(checks, "large", pair.blob, pair.f)
            more = [rng.getrandbits(40) for _ in range(2000)]
            got = pair.blob
            for at in range(0, 2000, 100):
                got = ext.call("bloom_add", got, *more[at : at + 100])
            f = pair.f.add(*more)
            checks.equal("bloom_add", got, f.encode())
            absent = Absent()
            absent.ask(f, 5000, 2**51)
            absent.check(checks)


# Damage, and filters that this writer would not make.


def repaired(blob):
    """The same bytes with checksums that fit them."""
    blob = bytearray(blob)
    head = 32 + 32 * blob[9]
    if len(blob) >= head + 8:
        blob[24:32] = struct.pack("<Q", bloomfile.xxh3(bytes(blob[head + 8 :])))
        blob[head : head + 8] = struct.pack("<Q", bloomfile.xxh3(bytes(blob[:head])))
    return bytes(blob)


def compare_verdicts(checks, what, blob):
    """Both read it and see the same, or both reject it for the same kind of reason."""
    got, want = ext.verdict("bloom_info", blob), verdict(decode, blob)
    checks.equal(what, got[0], want[0])
    if got[0] == want[0] == "ok":
        compare_info(checks, what, blob, decode(blob))
    return want[0]


def test_damage():
    rng = seeded("damage")
    names = "unsized-empty flat counting-flat grown-by-add lines-tight union-grown empty-flat"
    names = names.split()
    blobs = []
    for name in names:
        with open(os.path.join(harness.GOLDEN, name + ".bloom"), "rb") as file:
            blobs.append(file.read())
    with Checks("damage: a changed bit, bytes missing or too many: rejected by both") as checks:
        for blob in blobs:
            head = 40 + 32 * blob[9]
            places = list(range(head))
            if head < len(blob):
                places += [rng.randrange(head, len(blob)) for _ in range(20)]
            for at in places:
                bad = bytearray(blob)
                bad[at] ^= 1 << rng.randrange(8)
                checks.true("rejected", compare_verdicts(checks, "bit", bytes(bad)) != "ok")
            for cut in range(1, min(len(blob), 100)):
                checks.true("rejected", compare_verdicts(checks, "cut", blob[:-cut]) != "ok")
            for more in (b"\0", bytes(8), b"\xff"):
                checks.true("rejected", compare_verdicts(checks, "more", blob + more) != "ok")
                longer = repaired(blob + more)
                checks.true("rejected", compare_verdicts(checks, "more", longer) != "ok")
    with Checks("damage: any field at its limits, checksums repaired: the same verdict") as checks:
        seen = {}
        for name, blob in zip(names, blobs):
            for bad in field_changes(rng, blob):
                kind = compare_verdicts(checks, name, bad)
                seen[kind] = seen.get(kind, 0) + 1
        checks.true("every verdict came: %s" % seen, len(seen) == 4 and min(seen.values()) >= 5)
    with Checks("damage: a body that does not fit its checksum") as checks:
        for blob in blobs[1:]:
            bad = bytearray(blob)
            bad[24] ^= 1
            bad = repaired_header(bad)
            checks.equal("the verdict", compare_verdicts(checks, "body", bad), "damaged filter")
            unread = decode(bad, body=False)
            answers = [unread.contains(key) for key in range(50)]
            checks.equal("unverified", answers, ext.contains(blob, range(50)))


def repaired_header(blob):
    head = 32 + 32 * blob[9]
    blob = bytearray(blob)
    blob[head : head + 8] = struct.pack("<Q", bloomfile.xxh3(bytes(blob[:head])))
    return bytes(blob)


FIELDS = [(0, 4), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1), (9, 1), (10, 2), (12, 4), (16, 8)]
ENTRY_FIELDS = [(0, 8), (8, 8), (16, 8), (24, 4), (28, 1), (29, 1), (30, 2)]
FLOATS = [0.0, -0.0, 1.0, math.nan, math.inf, -0.1, 1e-9, 0.99999994, 2.0**-64, 2.0**-65, 9.99e-10]


def field_changes(rng, blob):
    """Filters with one field changed, or two that depend on each other, and right checksums."""
    entries = range(32, 32 + 32 * blob[9], 32)
    for at, size in FIELDS + [(entry + at, s) for entry in entries for at, s in ENTRY_FIELDS]:
        values = [0, 1, 2, 3, 15, 16, 64, 65, 128, 255, 1 << 39, (1 << 39) + 1, 1 << 48]
        values += [(1 << 48) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, rng.getrandbits(8 * size)]
        if size == 4:
            values += [struct.unpack("<I", struct.pack("<f", x))[0] for x in FLOATS]
        for value in values:
            if value >> 8 * size == 0:
                bad = bytearray(blob)
                bad[at : at + size] = value.to_bytes(size, "little")
                yield repaired(bad)
                if at in (12, 16) and blob[9]:
                    entry = {12: 56, 16: 32}[at]
                    bad[entry : entry + size] = bad[at : at + size]
                    yield repaired(bad)
    if len(blob) > 40 + 32 * blob[9]:
        for bit in range(8):
            bad = bytearray(blob)
            bad[-1] ^= 1 << bit
            yield repaired(bad)


def crafted(rng):
    """A filter of a geometry that no sizing gives, filled at random."""
    kind = rng.choice((1, 1, 2))
    n, p = rng.randrange(1, 2000), float32(max(1e-9, harness.random_p(rng) * 0.99))
    layers = []
    for i in range(1 if kind == 2 and rng.random() < 0.9 else rng.choice((1, 1, 2, 3, 5))):
        k = rng.randrange(1, 65)
        lines = rng.choice((1, 2, 3, 7))
        shape = (lines, 512, k, (k + 3) // 4) if lines > 1 else (1, rng.randrange(2, 700), k, 1)
        capacity, rate = rng.randrange(1, 2000), float32(rng.uniform(1e-19, 0.9))
        capacity, rate = (n, p) if i == 0 else (capacity, rate)
        layer = bloomfile.Layer(kind, capacity, rate, shape)
        fill = rng.choice((0, 0.1, 0.5, 0.9, 0.99, 1))
        for cell in range(layer.cells):
            if rng.random() < fill:
                layer.set(cell, 1 if kind == 1 else rng.randrange(1, 16))
        layers.append(layer)
    if kind == 1 and rng.random() < 0.3:  # layers of one shape, as several unions can leave
        for layer in rng.choices(layers, k=2):
            again = layer.copy()
            again.insert(rng.getrandbits(64))
            layers.append(again)
    return bloomfile.Filter(kind, n, p, rng.randrange(16), layers)


def test_crafted():
    rng, absent = seeded("crafted"), Absent()
    with Checks("crafted geometries, unused flags: read, changed and merged alike") as checks:
        for _ in range(250):
            f, g = crafted(rng), crafted(rng)
            blob = bytearray(f.encode())
            blob[7] = rng.choice((0, 1, 15))
            blob = repaired(blob)
            allowed = f.kind == 1 or len(f.layers) == 1
            wanted = "ok" if allowed else "damaged filter"
            checks.equal("the verdict", compare_verdicts(checks, "crafted", blob), wanted)
            if not allowed:
                continue
            f = decode(blob)
            keys = random_keys(rng, 10) or [1]
            probes = keys + list(range(60))
            answers = [f.contains(key) for key in probes]
            checks.equal("bloom_contains", ext.contains(blob, probes), answers)
            for step in ("add", "remove"):
                got = ext.verdict("bloom_" + step, blob, *keys)
                checks.equal(step, got, verdict(getattr(f, step), *keys))
            alike = decode(repaired(f.encode()))
            if f.kind == g.kind == 1:
                more = g.layers + alike.layers[1:]
                for layer in more[::2]:
                    layer.insert(rng.getrandbits(64))
                rng.shuffle(more)
                alike.layers[1:] = more
            empty = bloomfile.Filter()
            g = g if g.kind == 1 or len(g.layers) == 1 else empty
            for step in ("union", "intersect"):
                for others in ([g], [alike], [alike, f], [empty], [], [empty, g]):
                    got = ext.verdict("bloom_" + step, blob, *(o.encode() for o in others))
                    want = verdict(getattr(bloomfile, step), f, *others)
                    checks.equal("%s with %d" % (step, len(others)), got, want)
            # The rate takes layers for independent, which copies of one layer are not.
            if len({layer.entry() for layer in f.layers}) == len(f.layers):
                absent.ask(f, 60, 10**12)
        absent.check(checks)
    with Checks("64 layers, and no more") as checks:
        seen = set()
        for count in (31, 62, 63, 64):
            f = bloomfile.new(2, 0.5)
            f.layers += [bloomfile.Layer.sized(1, 2, float32(0.4 / i)) for i in range(1, count)]
            for layer in f.layers:
                layer.insert(1)
                layer.insert(2)
            g = f.copy()
            g.layers[1:] = [bloomfile.Layer.sized(1, 3, 0.125), bloomfile.Layer.sized(1, 4, 0.125)]
            for _ in range(3):
                what = "%d layers" % len(f.layers)
                blob = f.encode()
                checks.equal(what, compare_verdicts(checks, what, blob), "ok")
                absents = [key for key in range(3, 99) if not f.contains(key)][:1]
                got = ext.verdict("bloom_add", blob, *absents)
                checks.equal(what + " add", got, verdict(f.add, *absents))
                seen.add((len(f.layers), got[0]))
                got = ext.verdict("bloom_union", blob, g.encode())
                checks.equal(what + " union", got, verdict(bloomfile.union, f, g))
                if len(f.layers) < 64:
                    f = f.add(*absents)
        checks.true("63 and 64 layers: %s" % seen, {(63, "ok"), (64, "error")} <= seen)


if __name__ == "__main__":
    test_document()
    test_golden()
    test_keys()
    test_sizes()
    test_random()
    test_growth()
    test_large()
    test_damage()
    test_crafted()
    vectors.test(ext, Checks)
    sys.exit(harness.failed)
