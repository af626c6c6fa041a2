#!/usr/bin/python3
"""bloom in libSQL's server: shards, one union over them, a replica, and what goes wrong.

    sqld.py SQLD BLOOM.SO

Two namespaces, east and west, are the shards. Each builds the filter of its keys with the n and p
of the whole. A third namespace attaches both and makes one bloom_union. The merged filter is pushed
back to the shards, which prune with it. A replica follows the primary through a relay that can hold
what passes. Prints TAP.
"""

import base64
import hashlib
import http.client
import json
import os
import shutil
import socket
import sys
import threading

from nodes import (ABSENT, BLOOM, KEYS, N, P, folder, free_ports, json_keys, key, kill,
                   local_filter, ok, start, until)
import nodes

SQLD = os.path.abspath(sys.argv[1])


def request(port, path, body=None, method='POST', namespace=None):
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=20)
    headers = {'Content-Type': 'application/json'}
    if namespace:
        headers['Host'] = f'{namespace}.localhost'
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    if answer.status != 200:
        raise OSError(f'{path}: {answer.status} {text}')
    return json.loads(text) if text else None


def encode(value):
    if isinstance(value, bytes):
        return {'type': 'blob', 'base64': base64.b64encode(value).decode()}
    if isinstance(value, int):
        return {'type': 'integer', 'value': str(value)}
    return {'type': 'text', 'value': value}


def decode(value):
    if value['type'] == 'blob':
        return base64.b64decode(value['base64'] + '==')
    return int(value['value']) if value['type'] == 'integer' else value.get('value')


class Node:
    """A server with the extension, its ports and its folder; `primary` is the port it follows."""

    def __init__(self, name, primary=None, trusted=None):
        self.name, self.primary = name, primary
        self.http, self.admin, self.grpc = free_ports(3)
        self.log = os.path.join(folder, name + '.log')
        self.extensions = os.path.join(folder, name + '.extensions')
        os.makedirs(self.extensions)
        shutil.copy(BLOOM, os.path.join(self.extensions, 'bloom.so'))
        self.trust(trusted or checksum())
        self.start()

    def trust(self, digest):
        with open(os.path.join(self.extensions, 'trusted.lst'), 'w') as trusted:
            trusted.write(f'{digest}  bloom.so\n')

    def start(self):
        command = [SQLD, '--db-path', os.path.join(folder, self.name), '--no-welcome',
                   '--enable-namespaces', '--extensions-path', self.extensions,
                   '--http-listen-addr', f'127.0.0.1:{self.http}']
        if self.primary:
            command += ['--primary-grpc-url', f'http://127.0.0.1:{self.primary}']
        else:
            command += ['--grpc-listen-addr', f'127.0.0.1:{self.grpc}',
                        '--admin-listen-addr', f'127.0.0.1:{self.admin}']
        self.child = start(command, self.log)

    def ready(self):
        """Waits until it answers, or ended."""
        until(f'{self.name} to answer', lambda: self.child.poll() is not None or self.answers())

    def answers(self):
        try:
            request(self.http, '/health', method='GET')
            return True
        except OSError:
            return False

    def words(self):
        with open(self.log) as log:
            return log.read()

    def sql(self, namespace, statement, *values, before=()):
        """The rows of a statement, or the error's text; `before` runs in the same session."""
        steps = [{'type': 'execute', 'stmt': {'sql': one}} for one in before]
        steps.append({'type': 'execute', 'stmt': {'sql': statement,
                                                  'args': [encode(value) for value in values]}})
        results = request(self.http, '/v2/pipeline', {'requests': steps + [{'type': 'close'}]},
                          namespace=namespace)['results'][:-1]
        for result in results:
            if result['type'] == 'error':
                return result['error']['message']
        rows = results[-1]['response']['result']['rows']
        return [tuple(decode(value) for value in row) for row in rows]


class Relay:
    """Passes the replica's connections to the primary, and refuses them while it is held."""

    def __init__(self, target):
        self.target, self.held, self.pairs = target, False, []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near = self.listener.accept()[0]
            if self.held:
                near.close()
                continue
            far = socket.create_connection(('127.0.0.1', self.target))
            self.pairs.append((near, far))
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.copy, args=(source, sink), daemon=True).start()

    def copy(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        sink.close()

    def hold(self):
        self.held = True
        for pair in self.pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it ended before


def checksum():
    with open(BLOOM, 'rb') as extension:
        return hashlib.sha256(extension.read()).hexdigest()


def create(primary):
    for namespace in ('east', 'west', 'whole'):
        request(primary.admin, f'/v1/namespaces/{namespace}/create', {})
        config = request(primary.admin, f'/v1/namespaces/{namespace}/config', method='GET')
        request(primary.admin, f'/v1/namespaces/{namespace}/config',
                {**config, 'allow_attach': True})
    for namespace, numbers in KEYS.items():
        primary.sql(namespace, 'CREATE TABLE users(email TEXT PRIMARY KEY)')
        primary.sql(namespace, 'INSERT INTO users SELECT value FROM json_each(?)',
                    json_keys(numbers))
        primary.sql(namespace, 'CREATE TABLE filters(name TEXT PRIMARY KEY, version, filter BLOB)')
        build(primary, namespace, N, P, 1)


def build(primary, namespace, n, p, version):
    return primary.sql(
        namespace, 'INSERT OR REPLACE INTO filters '
        f"SELECT 'own', {version}, bloom_build(email, {n}, {p}) FROM users")


ATTACH = ('ATTACH "east" AS east', 'ATTACH "west" AS west')
UNION = """SELECT bloom_union(filter) FROM (
  SELECT filter FROM east.filters WHERE name = 'own'
  UNION ALL SELECT filter FROM west.filters WHERE name = 'own')"""
# What the shard knows of, in the merged filter: the others need not be asked for.
PRUNE = """SELECT value FROM json_each(?) WHERE bloom_contains(
  (SELECT bloom_ref(filter) FROM filters WHERE name = 'whole'), value)"""


def check_union(primary):
    # Only a SELECT: with a database attached, this server aborts in a statement that writes.
    union = primary.sql('whole', UNION, before=ATTACH)
    merged = union[0][0] if isinstance(union, list) else b''
    ok(merged == local_filter(range(N)),
       'sqld: the union of two attached shards is the filter built in one go, byte by byte', union)
    for shard in KEYS:
        primary.sql(shard, "INSERT INTO filters VALUES ('whole', 1, ?)", merged)
    return merged


def check_pruning(node, name):
    for shard in KEYS:
        until(f'{name} to have the merged filter', lambda: node.sql(
            shard, "SELECT 1 FROM filters WHERE name = 'whole'") == [(1,)])
        members = node.sql(shard, PRUNE, json_keys(range(N)))
        ok(len(members) == N, f'sqld: {name}: {shard} lets every key of both shards through',
           members[:200])
        let_through = len(node.sql(shard, PRUNE, json_keys(ABSENT)))
        # 10,000 absent keys at p = 0.01: 100 of them, sigma 10; 5 sigma either way.
        ok(50 <= let_through <= 150, f'sqld: {name}: {shard} prunes absent keys at the rate',
           let_through)


def check_different(primary):
    """Shards of another n or p do not merge, and the right filter is still there afterwards."""
    for n, p, words in ((N + 1, P, 'n differs (20000 and 20001)'), (N, 0.02, 'p differs')):
        build(primary, 'west', n, p, 2)
        seen = primary.sql('whole', UNION, before=ATTACH)
        ok(isinstance(seen, str) and 'bloom_union: ' in seen and words in seen,
           f'sqld: a shard with n = {n}, p = {p} is refused in words', seen)
    build(primary, 'west', N, P, 3)
    ok(primary.sql('whole', UNION, before=ATTACH) == [(local_filter(range(N)),)],
       'sqld: built again with the n and p of the whole, it merges')


def check_lag(primary, replica, relay):
    """A replica that lags has the old filter beside the old rows, and can say so."""
    relay.hold()
    new = key(15000000)
    primary.sql('east', 'INSERT INTO users VALUES (?)', new)
    build(primary, 'east', N, P, 2)
    state = "SELECT version, bloom_contains(filter, ?) FROM filters WHERE name = 'own'"
    ok(primary.sql('east', state, new) == [(2, 1)], 'sqld: the primary has the new key')
    ok(replica.sql('east', state, new) == [(1, 0)], 'sqld: a replica that lags has the old filter',
       replica.sql('east', state, new))
    asked = "SELECT bloom_contains(CASE WHEN version >= 2 THEN filter END, ?) FROM filters" \
        " WHERE name = 'own'"
    seen = replica.sql('east', asked, new)
    ok(isinstance(seen, str) and 'bloom_contains: the filter is NULL' in seen,
       'sqld: asked for the new version, it is an error and no 0', seen)
    open_gate = "SELECT version < 2 OR bloom_contains(filter, ?) FROM filters WHERE name = 'own'"
    ok(replica.sql('east', open_gate, new) == [(1,)],
       'sqld: or the row is let through until the replica is there')
    relay.held = False
    until('the replica to catch up', lambda: replica.sql('east', state, new) == [(2, 1)])
    ok(replica.sql('east', asked, new) == [(1,)], 'sqld: it catches up and answers')
    bytes_of = "SELECT filter FROM filters WHERE name = 'own'"
    ok(replica.sql('east', bytes_of) == primary.sql('east', bytes_of),
       'sqld: the replica has the primary\'s bytes')


def check_untrusted(relay):
    """A node whose extension is not the trusted one says so, and works once it is."""
    node = Node('untrusted', relay.port, trusted='0' * 64)
    node.ready()
    ended = node.child.poll() not in (None, 0)
    ok(ended and 'sha256 differs for bloom.so' in node.words(),
       'sqld: with another sum in trusted.lst it does not start, and names the file',
       node.words()[-2000:])
    kill(node.child)
    node.trust(checksum())
    node.start()
    node.ready()
    check_pruning(node, 'a node trusted later')


def main():
    primary = Node('primary')
    primary.ready()
    create(primary)
    check_union(primary)
    check_pruning(primary, 'primary')
    relay = Relay(primary.grpc)
    replica = Node('replica', relay.port)
    replica.ready()
    check_pruning(replica, 'replica')
    check_different(primary)
    check_untrusted(relay)
    check_lag(primary, replica, relay)
    return nodes.failures != 0


if __name__ == '__main__':
    sys.exit(main())
