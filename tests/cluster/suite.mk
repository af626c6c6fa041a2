# The extension in clusters: servers on loopback, killed when the test ends. Each is under a minute.
SQLD_SUITE = /usr/bin/python3 tests/cluster/sqld.py build/sqld/sqld $(B)/bloom.so
DQLITE_SUITE = /usr/bin/python3 tests/cluster/dqlite.py $(B)/dqlite-node $(B)/bloom.so

# dqlite opens its connections itself and loads nothing, so that the extension is compiled in.
$(B)/dqlite-node: tests/cluster/node.c $(B)/packages-test/core.o
	$(CC) $(TEST_CFLAGS) -D_DEFAULT_SOURCE -I$(B)/amalgamation -o $@ $^ -ldqlite -lsqlite3 -lm

GATE_FILES += $(B)/dqlite-node
GATE_SUITES += '$(SQLD_SUITE)' '$(DQLITE_SUITE)'

.PHONY: cluster
cluster: $(B)/bloom.so $(B)/dqlite-node ## shards and dead nodes: libSQL's server, dqlite; needs deps-ci
	@tests/run '$(SQLD_SUITE)' '$(DQLITE_SUITE)'
