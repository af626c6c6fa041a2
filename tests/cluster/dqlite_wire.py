"""A client of dqlite: as much of its wire protocol as the test needs."""

import socket
import struct

WORD = 8
FAILURE, NODE, DATABASE, RESULT, ROWS, EMPTY = 0, 1, 4, 6, 7, 8
LEADER, OPEN, EXECUTE, QUERY, ADD, ASSIGN, TRANSFER = 0, 3, 8, 9, 12, 13, 17
INTEGER, FLOAT, TEXT, BLOB, NULL = 1, 2, 3, 4, 5
VOTER = 0
END = b'\xff' * WORD


class Failure(Exception):
    """What the server answered, in its words."""


def number(value):
    return struct.pack('<Q', value)


def padded(data):
    return data + bytes(-len(data) % WORD)


def text(value):
    return padded(value.encode() + b'\0')


def parameters(values):
    if not values:
        return b''
    types, data = bytes([len(values)]), b''
    for value in values:
        if isinstance(value, int):
            types, data = types + bytes([INTEGER]), data + struct.pack('<q', value)
        elif isinstance(value, str):
            types, data = types + bytes([TEXT]), data + text(value)
        else:
            types, data = types + bytes([BLOB]), data + number(len(value)) + padded(value)
    return padded(types) + data


class Reader:
    """The body of an answer, from front to back."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, size):
        piece = self.body[self.at:self.at + size]
        self.at += size + -size % WORD
        return piece

    def number(self):
        return struct.unpack('<Q', self.take(WORD))[0]

    def text(self):
        return self.take(self.body.index(b'\0', self.at) - self.at + 1)[:-1].decode()

    def value(self, kind):
        if kind == NULL:
            return self.take(WORD) and None
        if kind == TEXT:
            return self.text()
        if kind == BLOB:
            return self.take(self.number())
        return struct.unpack('<d' if kind == FLOAT else '<q', self.take(WORD))[0]


class Client:
    """A connection to one node."""

    def __init__(self, address):
        host, port = address.split(':')
        self.socket = socket.create_connection((host, int(port)), timeout=10)
        self.stream = self.socket.makefile('rb')
        self.socket.sendall(number(1))  # the protocol's version

    def close(self):
        self.stream.close()
        self.socket.close()

    def exact(self, size):
        data = self.stream.read(size)
        if len(data) != size:
            raise OSError('the connection ended')
        return data

    def answer(self, expected):
        words, kind = struct.unpack('<IBxxx', self.exact(WORD))
        reader = Reader(self.exact(words * WORD))
        if kind == FAILURE:
            reader.number()
            raise Failure(reader.text())
        if kind != expected:
            raise OSError(f'an answer of type {kind}, not {expected}')
        return reader

    def ask(self, kind, body, expected):
        self.socket.sendall(struct.pack('<IBxxx', len(body) // WORD, kind) + body)
        return self.answer(expected)

    def leader(self):
        reader = self.ask(LEADER, number(0), NODE)
        return reader.number(), reader.text()

    def add(self, node, address):
        self.ask(ADD, number(node) + text(address), EMPTY)
        self.ask(ASSIGN, number(node) + number(VOTER), EMPTY)

    def transfer(self, node):
        self.ask(TRANSFER, number(node), EMPTY)

    def open(self, name):
        reader = self.ask(OPEN, text(name) + number(0) + text('volatile'), DATABASE)
        return reader.number() & 0xffffffff

    def execute(self, database, sql, *values):
        self.ask(EXECUTE, number(database) + text(sql) + parameters(values), RESULT)

    def query(self, database, sql, *values):
        reader = self.ask(QUERY, number(database) + text(sql) + parameters(values), ROWS)
        rows = []
        while True:
            columns = reader.number()
            for _ in range(columns):
                reader.text()
            while reader.at < len(reader.body):
                header = reader.take((columns + 1) // 2)
                if header[:1] == END[:1]:
                    return rows
                if header[:1] == b'\xee':  # more of them in the next answer
                    break
                kinds = [header[n // 2] >> n % 2 * 4 & 15 for n in range(columns)]
                rows.append(tuple(reader.value(kind) for kind in kinds))
            reader = self.answer(ROWS)
