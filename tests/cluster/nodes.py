"""What the cluster tests share: the keys, children that end with the test, free ports, TAP.

The second argument of each is bloom.so."""

import atexit
import ctypes
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

BLOOM = os.path.abspath(sys.argv[2])
N, P = 20000, 0.01
KEYS = {'east': range(0, 12000), 'west': range(8000, 20000)}  # of the shards
ABSENT = range(1000000, 1010000)
LIMIT_S = 55  # for a whole test
failures = 0
children = []
folder = tempfile.mkdtemp(prefix='cluster-')


def ok(condition, name, detail=''):
    """One line of TAP, and on a failure what was seen."""
    global failures
    print(('ok ' if condition else 'not ok ') + name, flush=True)
    if not condition:
        failures += 1
        print(f'# {detail}', flush=True)


def key(number):
    return f'user{number}@example.com'


def json_keys(numbers):
    return json.dumps([key(number) for number in numbers])


def local_filter(numbers):
    """The filter of these keys, made here by another SQLite."""
    database = sqlite3.connect(':memory:')
    database.enable_load_extension(True)
    database.execute('SELECT load_extension(?)', (BLOOM,))
    return database.execute('SELECT bloom_build(value, ?, ?) FROM json_each(?)',
                            (N, P, json_keys(numbers))).fetchone()[0]


def start(command, log):
    """A child whose output goes to a file; the kernel kills it when this process dies."""
    libc = ctypes.CDLL(None)
    with open(log, 'ab') as output:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output,
                                 preexec_fn=lambda: libc.prctl(1, signal.SIGKILL))
    children.append(child)
    return child


def kill(child):
    child.kill()
    child.wait()


def free_ports(count):
    """Ports of loopback that nobody listens on, all different."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def until(what, ask):
    """What ask() returns once it is true; its own limit is that of the test."""
    while True:
        answer = ask()
        if answer:
            return answer
        until.waits_for = what
        time.sleep(0.05)


def finish():
    for child in children:
        if child.poll() is None:
            kill(child)
    shutil.rmtree(folder, ignore_errors=True)


def too_long(*_):
    print(f'not ok the cluster answers within {LIMIT_S} s')
    sys.exit(f'# it waited for: {getattr(until, "waits_for", "a server")}')


atexit.register(finish)
signal.signal(signal.SIGALRM, too_long)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
signal.alarm(LIMIT_S)
