# The reader in JavaScript: the vectors, random keys and filters against the extension, the bench, and
# the page in a browser.
GATE_FILES += $(NODE_MODULES)/typescript/bin/tsc $(BROWSER)/playwright-core/package.json
GATE_SUITES += 'node tests/readers/vectors.mjs'
GATE_SUITES += 'NODE_PATH=$(abspath $(NODE_MODULES)) node tests/readers/agree.mjs'
GATE_SUITES += 'node tests/readers/bench.mjs 200000'
GATE_SUITES += 'NODE_PATH=$(abspath $(BROWSER)) node tests/readers/page.mjs'

BROWSER = build/browser/node_modules
$(BROWSER)/playwright-core/package.json: | $(DEPS_FIRST)
	mkdir -p $(BROWSER)
	npm install --silent --no-save --prefix build/browser playwright-core@1

.PHONY: page bench-reader
page: ## serves the page that reads filters on loopback, until interrupted; needs deps-ci
	@node tests/readers/serve.mjs

bench-reader: $(B)/bloom.so ## probes a second of the reader in JavaScript, on 12 MB; needs deps-ci
	@node tests/readers/bench.mjs
