# The tests. Each suite's folder has a suite.mk that adds to these lists:
#   CHECK_FILES     programs that `make check` builds first     CHECK_SUITES  commands that it runs
#   GATE_FILES      the same for what only the gate runs        GATE_SUITES
#                   and what it runs beside all others          GATE_BESIDE
# A suite of GATE_BESIDE writes into its own folder alone, and asks nothing of the clock.
# A command prints TAP; tests/run adds up. `make check` needs gcc alone and takes under 3 minutes.

CHECK_FILES = $(B)/bloom.so
CHECK_SUITES =
GATE_FILES =
GATE_SUITES =
GATE_BESIDE =
NEWEST = build/newest
export B

TEST_CFLAGS = -std=c11 -Wall -Wextra -Werror -Iext $(CFLAGS)

include $(sort $(wildcard tests/*/suite.mk))

.PHONY: check check-gate
check: $(CHECK_FILES) ## the quick tests
	@NO_SKIPS=1 tests/run $(CHECK_SUITES)

check-gate: $(CHECK_FILES) $(GATE_FILES) ## the quick tests and the longer ones, in their short form
	@NO_SKIPS=1 tests/run $(CHECK_SUITES) $(GATE_SUITES) -- $(GATE_BESIDE)

$(CHECK_FILES) $(GATE_FILES): | $(DEPS_FIRST)

# The newest SQLite that deps-ci brought: a library to preload, and its shell's worth of functions.
$(NEWEST)/libsqlite3.so.0: | $(DEPS_FIRST)
	$(CC) -O2 -fPIC -shared -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_MATH_FUNCTIONS \
	  -o $@ $(NEWEST)/sqlite3.c -lm -lpthread -ldl
