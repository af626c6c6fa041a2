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
bench: $(B)/bench $(B)/bloom.so ## times, memory and sizes beside their limits; takes half an hour
	@$(B)/bench $(BENCH)

bench-newest: $(B)/bench-newest $(B)/bloom.so ## the same on the newest SQLite; needs deps-ci
	@$(B)/bench-newest $(BENCH)

bench-instructions: $(B)/bench $(B)/bloom.so ## instructions a row; needs deps-ci
	@rm -f $(B)/callgrind.*
	@$(B)/bench --instructions $(BENCH)

# Whether a filter would pay on the user's own database.
GATE_SUITES += '/usr/bin/python3 tests/bench/advise.py'
# The first of these can load extensions, which not every Python can.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
ADVISE = '$(DB)' '$(TABLE)' '$(COLUMN)' '$(PROBE)'

.PHONY: advise advise-times
advise: $(B)/bloom.so ## would a filter pay? DB=file TABLE=t COLUMN=key PROBE=table.column
	@B=$(B) $(PYTHON) sql/advise.py $(ADVISE)

advise-times: $(B)/bloom.so ## the adviser's predictions beside measured times, on three databases
	@B=$(B) /usr/bin/python3 tests/bench/advise.py --times

# Millions of real keys.
GATE_SUITES += 'tests/bench/real.sh --quick'

.PHONY: deps-real bench-real
deps-real: ## installs what bench-real needs: the list of all files in Debian's packages
	@sh .ci/deps real

bench-real: $(B)/bloom.so ## a filter and an index over Debian's file paths; needs deps-real
	@B=$(B) tests/bench/real.sh

# Plots of what the bench measured: once for $(B)/bench.json, which a removal makes anew.
GATE_SUITES += 'tests/bench/short.sh'

.PHONY: plots laws
laws: $(B)/bench.json ## the exponents of the cost laws, fitted to $(B)/bench.json
	@tests/bench/laws.sh $<

plots: $(B)/bench.json ## draws plots/*.svg from $(B)/bench.json; needs deps-ci
	@tests/bench/plots.sh $< plots

$(B)/bench.json: | $(B)/bench $(B)/bloom.so
	@$(B)/bench --json >$@.new && mv $@.new $@
