# Coverage: the suites below, on a build that counts, run every line and every branch of ext/, as
# gcov -b counts them. What cannot happen stands in BLOOM_ALWAYS or BLOOM_NEVER (ext/platform.h).
COVERAGE_FLAGS = -O0 -g --coverage -DBLOOM_COVERAGE
COVERAGE_MAKE = B=$(B)/coverage CFLAGS='$(COVERAGE_FLAGS)'

COVERED_FILES = $(B)/bloom.so $(UNIT_KERNEL:%=$(B)/unit/%) $(B)/unit/key
COVERED_FILES += $(SQL_PROGRAMS) $(B)/sql-tails $(B)/packages-test/rooms
COVERED_FILES += $(B)/table/table $(B)/oom/oom $(B)/follow $(NEWEST)/libsqlite3.so.0
COVERED_SUITES = $(foreach test,$(UNIT_KERNEL) key,'$(UNIT_ENV) $(B)/unit/$(test)')
COVERED_SUITES += 'tests/sql/run.sh' $(SQL_DRIVERS:%='BLOOM=$(B)/bloom.so $(B)/sql-%')
COVERED_SUITES += '$(B)/sql-tails' '$(B)/packages-test/rooms'
COVERED_SUITES += 'LD_LIBRARY_PATH=$(NEWEST) BLOOM=$(B)/bloom.so $(B)/sql-statements'
COVERED_SUITES += 'tests/golden/run.sh' '$(B)/table/table quick' '$(B)/oom/oom short'
COVERED_SUITES += 'BLOOM=$(B)/bloom.so $(B)/follow quick'
COVERED_FILES += $(FUZZERS:%=$(B)/fuzz/replay-%) $(FUZZ_SEEDS)
COVERED_SUITES += 'BLOOM=$(B)/bloom.so tests/fuzz/replay.sh $(FUZZERS)'
# What only the newest SQLite asks for, as integrity_check; and the small scenarios with every n.
COVERED_NEWEST = LD_LIBRARY_PATH=$(NEWEST)
COVERED_SUITES += '$(COVERED_NEWEST) $(B)/table/table quick input damage house'
COVERED_SUITES += '$(COVERED_NEWEST) BLOOM=$(B)/bloom.so $(B)/follow quick life'
COVERED_SUITES += 'ONLY=small $(B)/oom/oom long table follow'
COVERED_SUITES += '$(COVERED_NEWEST) ONLY=small $(B)/oom/oom long table follow'

.PHONY: coverage coverage-run
coverage: ## lists the lines and branches of ext/ that no test runs; needs deps-ci
	@rm -rf $(B)/coverage
	@$(MAKE) -s $(COVERAGE_MAKE) coverage-run

# Called by the target above, with a B of its own: what an earlier build left would be counted too.
coverage-run:
	@$(MAKE) -s -j2 $(COVERED_FILES)
	@NO_SKIPS=1 tests/run $(COVERED_SUITES); code=$$?; tests/coverage/report.py $(B) && exit $$code

# The third definition: what always holds is asserted, in the suites that are quick.
DEBUG_MAKE = B=$(B)/debug CFLAGS='-O2 -g -DBLOOM_DEBUG'
DEBUG_FILES = $(B)/bloom.so $(UNIT_KERNEL:%=$(B)/unit/%) $(B)/unit/key $(SQL_PROGRAMS)
DEBUG_FILES += $(B)/table/table $(B)/oom/oom $(B)/follow
DEBUG_SUITES = $(foreach test,$(UNIT_KERNEL) key,'$(UNIT_ENV) $(B)/unit/$(test)')
DEBUG_SUITES += 'tests/sql/run.sh' $(SQL_DRIVERS:%='BLOOM=$(B)/bloom.so $(B)/sql-%')
DEBUG_SUITES += '$(B)/table/table quick' '$(B)/oom/oom quick'
DEBUG_SUITES += 'BLOOM=$(B)/bloom.so $(B)/follow quick'

.PHONY: check-debug check-debug-run
check-debug: ## the quick tests with BLOOM_ALWAYS and BLOOM_NEVER asserted
	@$(MAKE) -s $(DEBUG_MAKE) check-debug-run

check-debug-run:
	@$(MAKE) -s -j2 $(DEBUG_FILES)
	@NO_SKIPS=1 tests/run $(DEBUG_SUITES)
	@echo 'ok what BLOOM_ALWAYS and BLOOM_NEVER say holds'

# Each in a make of its own, which knows nothing of the one that runs the gate.
GATE_BESIDE += 'MAKEFLAGS= make -s check-debug' 'MAKEFLAGS= make -s coverage'
