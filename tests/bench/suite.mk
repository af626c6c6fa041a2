# The bench: times, instructions, memory and sizes beside their limits, and in the gate a short form
# that looks at the results only. BENCH='--only TEXT' picks figures, BENCH=--json is for machines.
BENCH_SOURCES = $(addprefix tests/bench/,bench.c figures.c probes.c builds.c queries.c rates.c \
  helpers.c)
BENCH_DEPENDS = $(BENCH_SOURCES) tests/bench/bench.h tests/bench/sql.h \
  tests/bench/suite.mk ext/hash.h

GATE_FILES += $(B)/bench $(NEWEST)/libsqlite3.so.0
GATE_SUITES += '$(B)/bench --quick'
GATE_SUITES += 'LD_LIBRARY_PATH=$(NEWEST) $(B)/bench --quick'

$(B)/bench: $(BENCH_DEPENDS) | $(B) $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -o $@ $(BENCH_SOURCES) -lsqlite3 -lm

# The newest SQLite compiled in, as programs that bring their own do.
$(B)/bench-newest.o: | $(B) $(DEPS_FIRST)
	$(CC) -O2 -g -DSQLITE_ENABLE_MATH_FUNCTIONS -c -o $@ $(NEWEST)/sqlite3.c

$(B)/bench-newest: $(BENCH_DEPENDS) $(B)/bench-newest.o
	$(CC) $(TEST_CFLAGS) -I$(NEWEST) -o $@ $(BENCH_SOURCES) $(B)/bench-newest.o -lm -lpthread -ldl

.PHONY: bench bench-newest bench-instructions
bench: $(B)/bench $(B)/bloom.so ## what the functions cost, beside the limits; takes 4 minutes
	@$(B)/bench $(BENCH)

bench-newest: $(B)/bench-newest $(B)/bloom.so ## the same on the newest SQLite; needs deps-ci
	@$(B)/bench-newest $(BENCH)

bench-instructions: $(B)/bench $(B)/bloom.so ## instructions a row; needs deps-ci
	@rm -f $(B)/callgrind.*
	@$(B)/bench --instructions $(BENCH)
