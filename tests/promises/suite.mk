# Promises broken on purpose: tests/README.md has the table of what README.md and ext/FORMAT.md
# promise, with the test and the patch of each; check.py applies the patches.
GATE_SUITES += '/usr/bin/python3 -B tests/promises/check.py $(B) --some 8'

.PHONY: check-promises
check-promises: | $(DEPS_FIRST) ## breaks each promise of the documents and sees its test fail; needs deps-ci
	@tests/run '/usr/bin/python3 -B tests/promises/check.py $(B) $(PROMISES)'
