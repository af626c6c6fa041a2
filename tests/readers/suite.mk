# The reader in JavaScript: the vectors, random keys and filters against the extension, and the bench.

GATE_FILES += $(NODE_MODULES)/typescript/bin/tsc
GATE_SUITES += 'node tests/readers/vectors.mjs'
GATE_SUITES += 'NODE_PATH=$(abspath $(NODE_MODULES)) node tests/readers/agree.mjs'
GATE_SUITES += 'node tests/readers/bench.mjs 200000'

.PHONY: bench-reader
bench-reader: $(B)/bloom.so ## probes a second of the reader in JavaScript, on 12 MB; needs deps-ci
	@node tests/readers/bench.mjs
