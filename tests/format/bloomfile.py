"""A second reader and writer of bloom's filters, written from ext/FORMAT.md alone.

It shares no code with the extension. Where the two give the same bytes and answers, the document
says enough. Python 3.10 or later, standard library only; slow, and meant to be read beside the
document: sections here carry its section names.

    f = build(["apple", 42, None], n=1000, p=0.01)     a Filter
    blob = f.encode()                                  its bytes
    g = decode(blob)                                   raises NotAFilter, Unsupported or Damaged
    g.contains("apple"), g.count(), g.rate(), g.info()
    g.add("pear"); g.remove("pear")                    remove: kind 'counting' only
    union(f, g), intersect(f, g), new(1000, 0.01), size(1000, 0.01), composite("a", 1)

A key is None (NULL), an int (INTEGER), a float (REAL), a str (TEXT) or bytes (BLOB).
"""

import decimal
import functools
import math
import re
import struct
from array import array

M64 = (1 << 64) - 1


class Error(ValueError):
    """An operation that the format does not allow."""


class Rejected(Error):
    """Bytes that are no filter, or none that this reader may answer for."""


class NotAFilter(Rejected):
    pass


class Unsupported(Rejected):
    pass


class Damaged(Rejected):
    pass


# XXH3, 64 bits: from the published description of the algorithm.

PRIME32_1, PRIME32_2, PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64_1, PRIME64_2, PRIME64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
PRIME64_4, PRIME64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
PRIME_MX1, PRIME_MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def u32(data, at):
    return int.from_bytes(data[at : at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def words(data, at, count):
    return struct.unpack_from("<%dQ" % count, data, at)


def fold(product):
    """The two halves of a product of 128 bits, XORed."""
    return (product & M64) ^ (product >> 64)


def avalanche(x):
    x = (x ^ x >> 37) * PRIME_MX1 & M64
    return x ^ x >> 32


def avalanche_xxh64(x):
    x = (x ^ x >> 33) * PRIME64_2 & M64
    x = (x ^ x >> 29) * PRIME64_3 & M64
    return x ^ x >> 32


def xxh3_small(data, seed):
    size = len(data)
    if size == 0:
        return avalanche_xxh64(seed ^ u64(SECRET, 56) ^ u64(SECRET, 64))
    if size < 4:
        mixed = data[-1] | size << 8 | data[0] << 16 | data[size >> 1] << 24
        return avalanche_xxh64(((u32(SECRET, 0) ^ u32(SECRET, 4)) + seed & M64) ^ mixed)
    if size < 9:
        swapped = int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big")
        mixed = u32(data, size - 4) | u32(data, 0) << 32
        x = ((u64(SECRET, 8) ^ u64(SECRET, 16)) - (seed ^ swapped << 32) & M64) ^ mixed
        x ^= (x << 49 | x >> 15) & M64 ^ (x << 24 | x >> 40) & M64
        x = x * PRIME_MX2 & M64
        x ^= (x >> 35) + size
        x = x * PRIME_MX2 & M64
        return x ^ x >> 28
    low = ((u64(SECRET, 24) ^ u64(SECRET, 32)) + seed & M64) ^ u64(data, 0)
    high = ((u64(SECRET, 40) ^ u64(SECRET, 48)) - seed & M64) ^ u64(data, size - 8)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return avalanche(size + swapped + high + fold(low * high) & M64)


def xxh3_medium(data, seed):
    size = len(data)

    def mix(at, secret_at):
        d, s = words(data, at, 2), words(SECRET, secret_at, 2)
        return fold((d[0] ^ s[0] + seed & M64) * (d[1] ^ s[1] - seed & M64))

    total = size * PRIME64_1
    if size <= 128:
        for i in reversed(range((size - 1 >> 5) + 1)):
            total += mix(i * 16, i * 32) + mix(size - i * 16 - 16, i * 32 + 16)
        return avalanche(total & M64)
    total = avalanche(total + sum(mix(i * 16, i * 16) for i in range(8)) & M64)
    total += sum(mix(i * 16, (i - 8) * 16 + 3) for i in range(8, size >> 4))
    return avalanche(total + mix(size - 16, 119) & M64)


def xxh3_large(data, seed):
    sums = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]
    secret = b"".join(
        struct.pack("<QQ", a + seed & M64, b - seed & M64)
        for a, b in struct.iter_unpack("<QQ", SECRET)
    )
    stripe_secrets = [words(secret, 8 * i, 8) for i in range(16)]

    def accumulate(stripe, key):
        for i in range(8):
            x = stripe[i] ^ key[i]
            sums[i ^ 1] += stripe[i]
            sums[i] = sums[i] + (x & 0xFFFFFFFF) * (x >> 32) & M64

    size = len(data)
    blocks = (size - 1) // 1024
    for block in range(blocks):
        for i in range(16):
            accumulate(words(data, 1024 * block + 64 * i, 8), stripe_secrets[i])
        for i, key in enumerate(words(secret, 128, 8)):
            x = sums[i] & M64
            sums[i] = (x ^ x >> 47 ^ key) * PRIME32_1 & M64
    for i in range((size - 1024 * blocks - 1) // 64):
        accumulate(words(data, 1024 * blocks + 64 * i, 8), stripe_secrets[i])
    accumulate(words(data, size - 64, 8), words(secret, 121, 8))
    ends = words(secret, 11, 8)
    total = size * PRIME64_1
    for i in range(0, 8, 2):
        total += fold((sums[i] & M64 ^ ends[i]) * (sums[i + 1] & M64 ^ ends[i + 1]))
    return avalanche(total & M64)


def xxh3(data, seed=0):
    if len(data) <= 16:
        return xxh3_small(data, seed)
    if len(data) <= 240:
        return xxh3_medium(data, seed)
    return xxh3_large(data, seed)


# Keys

INTEGER, REAL, TEXT, BLOB = range(4)
TYPE_NAMES = ("integer", "real", "text", "blob")
SEEDS = (1, 2, 0, 3)
NUMBER = re.compile(
    rb"[\t\n\x0b\x0c\r ]*([+-]?)(?:([0-9]+)(\.?)([0-9]*)|(\.)([0-9]+))"
    rb"(?:([eE])([+-]?)([0-9]+))?[\t\n\x0b\x0c\r ]*"
)


LARGEST = 179769313486231 * 10**294  # 15 digits of a float64
ROUNDED = decimal.Context(prec=15, rounding=decimal.ROUND_HALF_EVEN)


def canonical_decimal(minus, digits, q):
    """The form of minus * digits * 10**q, None if it is too large; digits has at most 15 of them, and
    no zero at the end."""
    if q + len(str(digits)) - 1 < -307:
        return INTEGER, bytes(8)
    if q > 308 or (q > 0 and digits * 10**q > LARGEST):
        return None
    return REAL, struct.pack("<qi", minus * digits, q)


def canonical_real(value):
    if value.is_integer() and -(2.0**63) <= value < 2.0**63:
        return INTEGER, struct.pack("<q", int(value))
    minus = -1 if value < 0 else 1
    infinity = REAL, struct.pack("<qi", minus, 2**31 - 1)
    if math.isinf(value):
        return infinity
    rounded = ROUNDED.create_decimal_from_float(abs(value)).normalize(ROUNDED).as_tuple()
    digits = int("".join(map(str, rounded.digits)))
    return canonical_decimal(minus, digits, rounded.exponent) or infinity


def nearest_float(minus, digits, q):
    return minus * float("%de%d" % (digits, q))


def spelt_number(text):
    """The canonical form of the number that the bytes of a text spell, or None."""
    match = NUMBER.fullmatch(text.partition(b"\0")[0])
    if not match:
        return None
    sign, whole, point, fraction, point2, fraction2, e, e_sign, e_digits = match.groups(b"")
    fraction += fraction2
    mantissa = (whole + fraction).lstrip(b"0")
    digits = mantissa.rstrip(b"0")
    c = len(digits)
    if c > 19:
        return None
    exponent = 0
    for digit in e_digits:
        if exponent < 100000:
            exponent = exponent * 10 + digit - 48
    if c == 0:
        return INTEGER, bytes(8)
    if e_sign == b"-":
        exponent = -exponent
    number = int(digits)
    q = exponent - len(fraction) + len(mantissa) - c
    minus = -1 if sign == b"-" else 1
    alone = not (point or point2 or e)
    if q >= 0 and q + c <= 19 and number * 10**q <= 2**63 - (minus > 0):
        if alone:
            return INTEGER, struct.pack("<q", minus * number * 10**q)
        return canonical_real(nearest_float(minus, number, q))
    if c <= 15:
        return canonical_decimal(minus, number, q)
    nearest = nearest_float(minus, number, q)
    return None if alone or math.isinf(nearest) else canonical_real(nearest)


def canonical(value):
    """A key's canonical type and bytes. A str may carry bytes that are no UTF-8, as surrogates."""
    if isinstance(value, int):
        return INTEGER, struct.pack("<q", value)
    if isinstance(value, float):
        return canonical_real(value)
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogateescape")
        return spelt_number(text) or (TEXT, text)
    return BLOB, bytes(value)


def is_null(value):
    return value is None or value != value  # SQLite turns NaN into NULL


def hash_form(form):
    return xxh3(form[1], SEEDS[form[0]])


def key_hash(value):
    return hash_form(canonical(value))


# Composite keys


def composite(*parts):
    """bloom_key(): one key, a blob, of several values. None if any part is NULL."""
    if any(is_null(part) for part in parts):
        return None
    out = b""
    for part in parts:
        kind, data = canonical(part)
        out += bytes([1 << kind])
        if kind >= TEXT:
            out += struct.pack("<Q", len(data))
        out += data
    return out


# Sizing

MIN_P = 1e-9
MIN_RATE = 2.0**-64
STIRLING = ((1,), (0, 1), (0, 1, 1), (0, 1, 3, 1), (0, 1, 7, 6, 1))
FALLING = (1, 512, 512 * 511, 512 * 511 * 510, 512 * 511 * 510 * 509)


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def lines_of_key(k):
    return (k + 3) // 4


def lines_rate(k, c):
    """R(k, c): the rate of the lines layout with c cells per key."""
    per_key = lines_of_key(k)
    t, q = divmod(k, per_key)
    low, high = (per_key - q) * (512 / c), q * (512 / c)

    def free(d):
        left = 1 - d / 512
        return math.exp(-low * (1 - left**t) - high * (1 - left ** (t + 1)))

    def hit(s):
        total = 0.0
        for j in range(s + 1):
            e = sum(STIRLING[j][d] * FALLING[d] * free(d) for d in range(j + 1)) / 512**j
            total += (-1) ** j * math.comb(s, j) * e
        return max(total, 0.0)  # it is a chance; only rounding can bring it below 0

    rate = hit(t) ** (per_key - q)
    return rate * hit(t + 1) ** q if q else rate


def u_flat(k, r):
    return math.ceil(-k / math.log1p(-(r ** (1 / k))) * 65536)


@functools.lru_cache(None)
def u_lines(k, r):
    low, high = 0, 1 << 23
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if lines_rate(k, middle / 65536) <= r else (middle, high)
    return high


def choose_k(r, units):
    bits = -math.log2(r)
    k = 1 if bits < 1 else 64 if bits > 64 else math.floor(bits)
    if r >= 0.5 or k == 64:
        return k
    return k + 1 if units(k + 1, r) < units(k, r) else k


def cells(n, u):
    return -(-n * u // 65536)


@functools.lru_cache(None)
def geometry(n, r):
    """(lines, line_bits, k, L) of a layer for n keys at rate r, a float32."""
    k = choose_k(r, u_flat)
    u = u_flat(k, r)
    if float(n) * u >= 0.98 * 2.0**64:
        raise Error("too many cells")
    m = cells(n, u) + (22 * (k - 1) + 99) // 100 + 1
    if m < 131072:
        return 1, m, k, 1
    k = choose_k(r, u_lines)
    return -(-(cells(n, u_lines(k, r)) + 80) // 512), 512, k, lines_of_key(k)


# Expected rates


class Expected:
    """What a layer of a geometry is expected to look like after x keys."""

    def __init__(self, lines, line_bits, k, per_key):
        self.flat, self.k, self.cells = lines == 1, k, lines * line_bits
        if self.flat:
            self.f = k * math.log1p(-1 / line_bits)
        else:
            draws = [k // per_key + (i < k % per_key) for i in range(per_key)]
            self.f = -sum(1 - (1 - 1 / 512) ** t for t in draws) / lines

    def cells_at(self, x):
        return self.cells * -math.expm1(self.f * x)

    def keys_of(self, occupied):
        if occupied == self.cells:
            return math.inf
        return math.log1p(-occupied / self.cells) / self.f

    def rate_at(self, x):
        if x <= 0:
            return 0.0
        if self.flat:
            return (self.cells_at(x) / self.cells) ** self.k
        return lines_rate(self.k, self.cells / x)

    def keys_at(self, r):
        if self.flat:
            return self.keys_of(self.cells * r ** (1 / self.k))
        low, high = 0.0, 1.0
        while self.rate_at(high) < r:
            high *= 2
        while high - low > 1e-15 * high:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (middle, high) if self.rate_at(middle) < r else (low, middle)
        return low


@functools.lru_cache(None)
def expected(*shape):
    return Expected(*shape)


@functools.lru_cache(None)
def full_at(shape, keys, rate):
    """The occupied cells at which bloom_add opens a layer: given the keys, or else their rate."""
    layer = expected(*shape)
    return layer.cells_at(layer.keys_at(rate) if keys is None else keys)


# Layers

C = 0xF1357AEA2E62A9C5
POWERS = [pow(C, j, 1 << 64) for j in range(16 + 64)]
PLAIN, COUNTING = 1, 2
KIND_NAMES = {PLAIN: "plain", COUNTING: "counting"}
OCCUPIED = {
    PLAIN: bytes(bin(byte).count("1") for byte in range(256)),
    COUNTING: bytes(((byte & 15) != 0) + (byte >> 4 != 0) for byte in range(256)),
}


class Layer:
    ENTRY = struct.Struct("<QQQfBBH")

    def __init__(self, kind, capacity, rate, shape, body=None):
        self.kind, self.capacity, self.rate, self.shape = kind, capacity, rate, shape
        self.lines, self.line_bits, self.k, self.per_key = shape
        self.cells = self.lines * self.line_bits
        self.body = bytearray(self.size()) if body is None else bytearray(body)
        self._occupied = None

    @classmethod
    def sized(cls, kind, capacity, rate):
        return cls(kind, capacity, rate, geometry(capacity, rate))

    def copy(self):
        return Layer(self.kind, self.capacity, self.rate, self.shape, self.body)

    def cell_bits(self):
        return 1 if self.kind == PLAIN else 4

    def size(self):
        return -(-self.cells * self.cell_bits() // 8)

    def entry(self):
        return self.ENTRY.pack(self.capacity, self.lines, self.line_bits, self.rate, self.k,
                               self.per_key, 0)

    def positions(self, h):
        h |= 1
        if self.lines == 1:
            m = self.line_bits
            return [(h * c & M64) * m >> 64 for c in POWERS[1 : self.k + 1]]
        out = []
        j = self.per_key
        for i in range(self.per_key):
            first = ((h * POWERS[i] & M64) * self.lines >> 64) * self.line_bits
            for _ in range(self.k // self.per_key + (i < self.k % self.per_key)):
                out.append(first + ((h * POWERS[j] & M64) * self.line_bits >> 64))
                j += 1
        return out

    def get(self, cell):
        if self.kind == PLAIN:
            return self.body[cell >> 3] >> (cell & 7) & 1
        return self.body[cell >> 1] >> 4 * (cell & 1) & 15

    def set(self, cell, value):
        """Gives a cell a value; the number of occupied cells follows."""
        at, shift, mask = cell >> 1, 4 * (cell & 1), 15
        if self.kind == PLAIN:
            at, shift, mask = cell >> 3, cell & 7, 1
        old = self.body[at] >> shift & mask
        self.body[at] ^= (old ^ value) << shift
        if self._occupied is not None:
            self._occupied += (value > 0) - (old > 0)

    def contains(self, h):
        return all(self.get(cell) for cell in self.positions(h))

    def insert(self, h):
        """Plain. True if the key is new: one of its bits was 0."""
        new = [cell for cell in self.positions(h) if not self.get(cell)]
        for cell in new:
            self.set(cell, 1)
        return bool(new)

    def increment(self, h):
        for cell in self.positions(h):
            self.set(cell, min(self.get(cell) + 1, 15))

    def decrement(self, h):
        taken = []
        for cell in self.positions(h):
            value = self.get(cell)
            if value == 0:
                for back in taken:
                    self.set(back, self.get(back) + 1)
                return
            if value < 15:
                self.set(cell, value - 1)
                taken.append(cell)

    def occupied(self):
        if self._occupied is None:
            self._occupied = sum(self.body.translate(OCCUPIED[self.kind]))
        return self._occupied

    def observed_rate(self):
        """layer_rate of FORMAT.md, Estimates."""
        t, q = divmod(self.k, self.per_key)
        counts = self.body.translate(OCCUPIED[self.kind])
        if self.lines == 1:
            fills = [sum(counts) / self.line_bits]
        else:
            step = 64 * self.cell_bits()
            fills = [sum(counts[at : at + step]) / 512 for at in range(0, len(counts), step)]
        low = sum(fill**t for fill in fills) / self.lines
        high = sum(fill ** (t + 1) for fill in fills) / self.lines
        return low ** (self.per_key - q) * high**q

    def behind_last(self):
        """The reserved bits behind the last cell, as a number."""
        return self.body[-1] >> 8 - (self.size() * 8 - self.cells * self.cell_bits())

    def merge(self, other, union):
        if self.kind == PLAIN:
            step = (lambda a, b: a | b) if union else (lambda a, b: a & b)
        elif union:
            step = lambda a, b: min((a & 15) + (b & 15), 15) | min((a >> 4) + (b >> 4), 15) << 4
        else:
            step = lambda a, b: min(a & 15, b & 15) | min(a >> 4, b >> 4) << 4
        self.body = bytearray(map(step, self.body, other.body))
        self._occupied = None


# Filters

MAGIC = b"\xc1\x42\x46\xf5"
HEADER = struct.Struct("<4sBBBBBBHfQ")


class Filter:
    def __init__(self, kind=PLAIN, n=0, p=0.0, key_types=0, layers=()):
        self.kind, self.n, self.p, self.key_types = kind, n, p, key_types
        self.layers = list(layers)

    def copy(self):
        layers = [layer.copy() for layer in self.layers]
        return Filter(self.kind, self.n, self.p, self.key_types, layers)

    def encode(self):
        body = b"".join(layer.body for layer in self.layers)
        header = HEADER.pack(MAGIC, 1, self.kind, 1, 0, self.key_types, len(self.layers), 0,
                             self.p, self.n)
        header += struct.pack("<Q", xxh3(body))
        header += b"".join(layer.entry() for layer in self.layers)
        return header + struct.pack("<Q", xxh3(header)) + body

    def contains_hash(self, h):
        return any(layer.contains(h) for layer in self.layers)

    def contains(self, key):
        """1, 0, or None for a NULL key."""
        return None if is_null(key) else int(self.contains_hash(key_hash(key)))

    def add(self, *keys):
        if not self.layers:
            raise Error("this filter has no size")
        grown = self.copy()
        for key in keys:
            if is_null(key):
                continue
            form = canonical(key)
            grown.key_types |= 1 << form[0]
            grown._add_hash(hash_form(form))
        return grown

    def _add_hash(self, h):
        if self.kind == COUNTING:
            self.layers[0].increment(h)
            return
        if self.contains_hash(h):
            return
        last, t = self.layers[-1], len(self.layers)
        if t == 1:
            full = full_at(last.shape, None, min(1.5 * self.p, (1 + self.p) / 2))
        else:
            full = full_at(last.shape, last.capacity, None)
        o = last.occupied()
        if o > 0 and o + last.k * (1 - o / last.cells) > full:
            if t == 64:
                raise Error("no more than 64 layers")
            capacity = 0
            for layer in self.layers:
                if capacity < 2**62 - 1:
                    capacity += layer.capacity
            rate = float32(max(0.4 * self.p * 2.0**-t, MIN_RATE))
            last = Layer.sized(PLAIN, capacity, rate)
            self.layers.append(last)
        last.insert(h)

    def remove(self, *keys):
        if self.layers and self.kind != COUNTING:
            raise Error("a plain filter cannot forget a key")
        shrunk = self.copy()
        for key in keys if shrunk.layers else ():
            if not is_null(key):
                shrunk.layers[0].decrement(key_hash(key))
        return shrunk

    def estimates(self):
        """The number of keys (infinite for a full layer) and the rate, from the cells."""
        none, count, rate = 1.0, 0.0, 0.0
        for layer in self.layers:
            occupied = layer.occupied()
            if occupied > 0:
                keys = expected(*layer.shape).keys_of(occupied)
                count = count + keys / none if none > 0 else math.inf
            layer_rate = layer.observed_rate()
            rate += layer_rate * none
            none *= 1 - layer_rate
        return count, rate

    def count(self):
        count = self.estimates()[0]
        return None if count >= 9e18 else math.floor(count + 0.5)

    def rate(self):
        return self.estimates()[1]

    def info(self, blob_size=None):
        """What bloom_info() tells, as a dict."""
        total = sum(layer.cells for layer in self.layers)
        occupied = sum(layer.occupied() for layer in self.layers)
        first = self.layers[0] if self.layers else None
        return {
            "version": 1,
            "kind": KIND_NAMES[self.kind],
            "layout": "empty" if not first else "flat" if first.lines == 1 else "lines",
            "n": self.n if first else None,
            "p": self.p if first else None,
            "k": first.k if first else 0,
            "bits": total,
            "bytes": len(self.encode()) if blob_size is None else blob_size,
            "layers": len(self.layers),
            "bits_set": occupied,
            "fill": occupied / total if total else 0.0,
            "count": self.count(),
            "fpr": self.rate(),
            "key_types": [name for i, name in enumerate(TYPE_NAMES) if self.key_types >> i & 1],
            "checksum": "ok",
            "layer_table": [
                {
                    "capacity": layer.capacity,
                    "rate": layer.rate,
                    "k": layer.k,
                    "L": layer.per_key,
                    "lines": layer.lines,
                    "line_bits": layer.line_bits,
                    "bits_set": layer.occupied(),
                }
                for layer in self.layers
            ],
        }


# Reading


def demand(condition, reason, error=Damaged):
    if not condition:
        raise error(reason)


def decode(blob, body=True):
    """The filter that a blob holds; its body is verified unless body is False."""
    size = len(blob)
    demand(size >= 4 and blob[:4] == MAGIC, "not a filter", NotAFilter)
    demand(size >= 40, "too short")
    _, version, kind, scheme, flags, key_types, t, reserved, p, n = HEADER.unpack_from(blob)
    demand(version == 1, "version", Unsupported)
    demand(scheme == 1, "hash scheme", Unsupported)
    demand(t <= 64 and size >= 40 + 32 * t, "layers")
    demand(xxh3(blob[: 32 + 32 * t]) == u64(blob, 32 + 32 * t), "header checksum")
    demand(kind in KIND_NAMES, "kind", Unsupported)
    demand(not flags & 0xF0 and not key_types & 0xF0 and reserved == 0, "reserved bits")
    if t == 0:
        demand(n == 0 and blob[12:16] == bytes(4) and kind == PLAIN, "an empty filter's fields")
    else:
        demand(1 <= n < 2**63 and float32(MIN_P) <= p < 1, "n or p")
    layers, at = [], 40 + 32 * t
    for i in range(t):
        layer_size, layer = read_entry(blob, kind, 32 + 32 * i, at)
        at += layer_size
        layers.append(layer)
    demand(at == size, "size")
    demand(kind == PLAIN or t <= 1, "a counting filter has one layer")
    if t > 0:
        demand(layers[0][1] == n and layers[0][2] == p, "layer 0 is not for n and p")
    if body:
        demand(xxh3(blob[40 + 32 * t :]) == u64(blob, 24), "body checksum")
    layers = [Layer(*fields, blob[start:end]) for *fields, start, end in layers]
    if body:
        demand(not any(layer.behind_last() for layer in layers), "bits behind the last cell")
    return Filter(kind, n, p, key_types, layers)


def read_entry(blob, kind, entry_at, cells_at):
    """A layer's size in bytes, and what Layer() takes; nothing of its cells is touched yet."""
    capacity, lines, line_bits, rate, k, per_key, reserved = Layer.ENTRY.unpack_from(blob, entry_at)
    demand(1 <= capacity < 2**63, "capacity")
    demand(1 <= lines <= 2**39, "lines")
    demand(2 <= line_bits <= 2**48 if lines == 1 else line_bits == 512, "line_bits")
    demand(MIN_RATE <= rate < 1, "rate")
    demand(1 <= k <= 64, "k")
    demand(per_key == (1 if lines == 1 else lines_of_key(k)), "L")
    demand(reserved == 0, "reserved bytes")
    size = -(-lines * line_bits * (1 if kind == PLAIN else 4) // 8)
    shape = (lines, line_bits, k, per_key)
    return size, (kind, capacity, rate, shape, cells_at, cells_at + size)


# Writing


def check_n(n):
    if not 1 <= n < 2**63:
        raise Error("n")
    return n


def check_p(p):
    p = 0.01 if p is None else float(p)
    if MIN_P * (1 - 1e-12) < p < MIN_P:
        p = MIN_P
    if not (p >= MIN_P and float32(p) < 1):
        raise Error("p")
    return float32(p)


def kind_number(kind):
    return {"plain": PLAIN, "counting": COUNTING}[kind]


def new(n, p=None, kind="plain"):
    number, p = kind_number(kind), check_p(p)
    return Filter(number, n, p, 0, [Layer.sized(number, check_n(n), p)])


def size(n, p=None):
    """bloom_size(): the bytes of a plain filter."""
    lines, line_bits, _, _ = geometry(check_n(n), check_p(p))
    return 72 + -(-lines * line_bits // 8)


def build(keys, n=None, p=None, kind="plain"):
    """bloom_build(): keys in the order of the rows."""
    forms = [canonical(key) for key in keys if not is_null(key)]
    hashes = array("Q", map(hash_form, forms))
    return build_hashes(hashes, {form[0] for form in forms}, n, p, kind)


def build_hashes(hashes, types, n=None, p=None, kind="plain"):
    if not hashes:
        return Filter()
    sized_by_keys = n is None
    f = new(len(set(hashes)) if sized_by_keys else n, p, kind)
    f.key_types = sum(1 << number for number in types)
    if f.kind == COUNTING:
        for h in hashes:
            f.layers[0].increment(h)
    elif sized_by_keys:
        for h in hashes:
            f.layers[0].insert(h)
    else:
        Growth(f).build(hashes)
    return f


# Growth: bloom_build


class Growth:
    MAX_ROOM = 1 << 24
    UNSORTED_ROOM = 1 << 21

    def __init__(self, f):
        self.f = f
        shape = expected(*f.layers[0].shape)
        half = max(shape.keys_at(f.p / 2), f.n - self.MAX_ROOM // 2)
        self.limit = math.floor(min(f.n, half)) if f.n >= 64 else 0
        self.budget = f.p - shape.rate_at(self.limit)
        self.counted, self.direct = 0, False
        self.late = f.n - self.limit
        self.tail, self.room = array("Q"), self.late + max(64, self.late // 4)
        self.outgrown = False

    def open(self, keys, share):
        rate = max(self.budget * share, MIN_RATE)
        self.f.layers.append(Layer.sized(PLAIN, keys, float32(rate)))
        self.budget -= rate
        self.counted, self.limit = 0, keys

    def insert(self, hashes):
        for h in hashes:
            self.f.layers[-1].insert(h)

    def clean_tail(self):
        """Drops what layer 0 contains, and duplicates; tells how many are left."""
        first = self.f.layers[0]
        left = [h for h in dict.fromkeys(self.tail) if not first.contains(h)]
        self.tail = array("Q", left)
        return len(left)

    def tail_has_room(self):
        """False if the tail is full; it is then clean."""
        if len(self.tail) < self.room:
            return True
        if self.outgrown and self.room < self.UNSORTED_ROOM:
            self.room = 4 * self.room
            return True
        d = self.clean_tail()
        self.outgrown = d > self.late
        if d <= self.late or d <= self.room // 2:
            return True
        if self.room == self.MAX_ROOM:
            return False
        self.room = min(4 * d, self.MAX_ROOM)
        return True

    def put(self, h):
        layers = self.f.layers
        if self.counted < self.limit:
            if not (self.direct and any(layer.contains(h) for layer in layers[:-1])):
                self.counted += layers[-1].insert(h)
        elif self.direct and self.f.contains_hash(h):
            pass
        elif not self.direct and self.tail_has_room():
            self.tail.append(h)
        else:
            if not self.direct:
                self.open(len(self.tail), 0.5)
                self.insert(self.tail)
                self.tail, self.direct = array("Q"), True
                self.counted = self.limit
                if self.f.contains_hash(h):
                    return
            self.open(2 * layers[-1].capacity, 0.5)
            self.insert([h])
            self.counted = 1

    def build(self, hashes):
        for h in hashes:
            self.put(h)
        if not self.tail:
            return
        d = self.clean_tail()
        if self.counted + d > self.f.n:
            self.open(d, 1)
        self.insert(self.tail)


# Merging


def check_mergeable(a, b):
    if a.kind != b.kind or a.n != b.n or a.p != b.p:
        raise Error("kind, n or p differ")
    if a.layers[0].entry() != b.layers[0].entry():
        raise Error("layer 0 differs")


def union(*filters):
    result = filters[0].copy()
    for other in filters[1:]:
        if not other.layers:
            continue
        if not result.layers:
            result = other.copy()
            continue
        check_mergeable(result, other)
        targets = list(result.layers)
        for layer in other.layers:
            same = next((t for t in targets if t.entry() == layer.entry()), None)
            if same:
                same.merge(layer, True)
                targets = [t for t in targets if t is not same]
            elif len(result.layers) == 64:
                raise Error("no more than 64 layers")
            else:
                result.layers.append(layer.copy())
        result.key_types |= other.key_types
    return result


def intersect(*filters):
    result = filters[0].copy()
    for other in filters[1:]:
        if not result.layers or not other.layers:
            result = Filter()
            continue
        check_mergeable(result, other)
        if len(result.layers) != 1 or len(other.layers) != 1:
            raise Error("a filter with several layers")
        result.layers[0].merge(other.layers[0], False)
        result.key_types &= other.key_types
    return result
