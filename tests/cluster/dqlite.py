#!/usr/bin/python3
"""bloom in dqlite: three nodes, the leader killed, the same answers.

    dqlite.py NODE BLOOM.SO

Two databases, east and west, are the shards. Each builds the filter of its keys with the n and p of
the whole; the client merges them with bloom_union and pushes the merged filter back to both. Then
leaders die. NODE is node.c; BLOOM.SO is for the filter that another SQLite makes to compare with.
Prints TAP.
"""

import os
import sys

from dqlite_wire import Client, Failure
from nodes import (ABSENT, KEYS, N, P, folder, free_ports, json_keys, kill, local_filter, ok, start,
                   until)
import nodes

NODE = os.path.abspath(sys.argv[1])
PRUNE = """SELECT count(*) FROM json_each(?) WHERE bloom_contains(
  (SELECT bloom_ref(filter) FROM filters WHERE name = 'whole'), value)"""
SEEN = 'SELECT count(*) FROM json_each(?) WHERE bloom_lookup(\'seen\', value)'


class Cluster:
    """Three nodes by their number, of which some may be dead."""

    def __init__(self):
        self.addresses = {n + 1: f'127.0.0.1:{port}' for n, port in enumerate(free_ports(3))}
        self.alive = {}
        for node in self.addresses:
            os.makedirs(os.path.join(folder, f'node{node}'))
            self.start(node)
        for node in (2, 3):
            client = self.leading()
            client.add(node, self.addresses[node])
            client.close()

    def start(self, node, *plain):
        path = os.path.join(folder, f'node{node}')
        self.alive[node] = start([NODE, str(node), self.addresses[node], path, *plain],
                                 path + '.log')

    def kill(self, node):
        kill(self.alive.pop(node))

    def leader(self):
        """The leader's number, or 0 when those that know one do not agree on one that lives."""
        said = set()
        for node, child in self.alive.items():
            if child.poll() is not None:
                sys.exit(f'not ok dqlite: node {node} ended by itself: {child.returncode}')
            try:
                client = Client(self.addresses[node])
                said.add(client.leader()[0])
                client.close()
            except (OSError, Failure):
                pass  # it starts, or it is no member yet
        said.discard(0)
        return said.pop() if len(said) == 1 and said <= set(self.alive) else 0

    def leading(self):
        return Client(self.addresses[until('a leader', self.leader)])

    def sql(self, name, sql, *values, node=None):
        """The rows of a statement on the leader, or on a node, or the error's text."""
        client = Client(self.addresses[node]) if node else self.leading()
        try:
            database = client.open(name)
            if sql.startswith('SELECT'):
                return client.query(database, sql, *values)
            client.execute(database, sql, *values)
            return []
        except Failure as failure:
            return str(failure)
        finally:
            client.close()


def build(cluster, shard, n, p):
    return cluster.sql(shard, 'INSERT OR REPLACE INTO filters '
                       f"SELECT 'own', bloom_build(email, {n}, {p}) FROM users")


def create(cluster):
    for shard, numbers in KEYS.items():
        for statement in ('CREATE TABLE users(email TEXT PRIMARY KEY)',
                          'CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB)',
                          f'CREATE VIRTUAL TABLE seen USING bloom(n={N}, p={P})'):
            done = cluster.sql(shard, statement)
            ok(done == [], f'dqlite: {shard}: {statement}', done)
        for table in ('users(email)', 'seen(key)'):
            done = cluster.sql(shard, f'INSERT INTO {table} SELECT value FROM json_each(?)',
                               json_keys(numbers))
            ok(done == [], f'dqlite: {shard}: keys into {table}', done)
        build(cluster, shard, N, P)


def merge(cluster):
    """The union of the shards' filters, written to both; [], or the error's text."""
    own = [cluster.sql(shard, "SELECT filter FROM filters WHERE name = 'own'")[0][0]
           for shard in KEYS]
    for shard in KEYS:
        done = cluster.sql(shard, 'INSERT OR REPLACE INTO filters '
                           "SELECT 'whole', bloom_union(?, ?)", *own)
        if done:
            return done
    return []


def check_answers(cluster, when):
    for shard, numbers in KEYS.items():
        stored = cluster.sql(shard, "SELECT filter FROM filters WHERE name = 'whole'")
        ok(stored == [(local_filter(range(N)),)],
           f'dqlite: {when}: {shard} has the merged filter, byte by byte', str(stored)[:200])
        for form, sql, members in (('filter', PRUNE, range(N)), ('table', SEEN, numbers)):
            found = cluster.sql(shard, sql, json_keys(members))
            ok(found == [(len(members),)], f'dqlite: {when}: {shard}: the {form} has its keys',
               found)
            # 10,000 absent keys at p = 0.01: 100, sigma 10, and 5 sigma either way. The table of a
            # shard is filled to 60 % of n, and lets fewer through.
            absent = cluster.sql(shard, sql, json_keys(ABSENT))
            low = 50 if form == 'filter' else 0
            ok(low <= absent[0][0] <= 150, f'dqlite: {when}: {shard}: the {form} says no to others',
               absent)


def check_refused(cluster):
    for n, p, words in ((N + 1, P, 'n differs'), (N, 0.02, 'p differs')):
        build(cluster, 'west', n, p)
        seen = merge(cluster)
        ok(isinstance(seen, str) and 'bloom_union: ' in seen and words in seen,
           f'dqlite: a shard with n = {n}, p = {p} is refused in words', seen)
    build(cluster, 'west', N, P)
    seen = merge(cluster)
    ok(seen == [], 'dqlite: built again, it merges', seen)
    follower = next(node for node in cluster.alive if node != cluster.leader())
    seen = cluster.sql('east', 'SELECT 1', node=follower)
    ok(isinstance(seen, str) and 'not leader' in seen, 'dqlite: a follower sends to the leader',
       seen)


def check_plain(cluster, node):
    """A node without the extension that becomes the leader: an error, and nothing lost."""
    cluster.start(node, 'plain')
    client = cluster.leading()
    until('a node without the extension to lead', lambda: transferred(client, node))
    client.close()
    until('it to know', lambda: cluster.leader() == node)
    seen = cluster.sql('east', PRUNE, json_keys(range(N)))
    ok(seen == 'no such function: bloom_ref',
       'dqlite: a leader without the extension says that it is missing', seen)
    seen = cluster.sql('east', SEEN, json_keys(range(N)))
    ok(seen == 'no such function: bloom_lookup', 'dqlite: for the table too', seen)
    cluster.kill(node)


def transferred(client, node):
    try:
        client.transfer(node)
        return True
    except Failure:
        return False  # it has not caught up yet


def main():
    cluster = Cluster()
    create(cluster)
    merge(cluster)
    check_answers(cluster, 'three nodes')
    check_refused(cluster)
    first = cluster.leader()
    cluster.kill(first)
    check_answers(cluster, 'the leader killed')
    cluster.sql('east', 'INSERT INTO seen VALUES (?)', 'new@example.com')
    check_plain(cluster, first)
    check_answers(cluster, 'that one killed')
    seen = cluster.sql('east', SEEN, '["new@example.com"]')
    ok(seen == [(1,)], 'dqlite: the table has the key that came between', seen)
    return nodes.failures != 0


if __name__ == '__main__':
    sys.exit(main())
