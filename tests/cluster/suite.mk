# The extension in clusters: servers on loopback, killed when the test ends. Each is under a minute.
SQLD_SUITE = /usr/bin/python3 tests/cluster/sqld.py build/sqld/sqld $(B)/bloom.so

GATE_SUITES += '$(SQLD_SUITE)'

.PHONY: cluster
cluster: $(B)/bloom.so ## shards, a union, a replica in libSQL's server; needs deps-ci
	@tests/run '$(SQLD_SUITE)'
