# Fuzzers: README.md here says what each looks for and what to do with what they find. `make check`
# replays the kept inputs with gcc alone, the gate fuzzes for a few seconds, `make fuzz` for hours.
FUZZERS = blob merge sql keys affinity shadow
FUZZ_SECONDS ?= 3600
FUZZ_CC ?= clang
# Not -fno-sanitize-recover, which takes clang ten times as long: fuzz.sh sets halt_on_error.
FUZZ_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined
FUZZ_EXT = $(FUZZ_FLAGS) -fsanitize=integer,float-divide-by-zero,fuzzer-no-link \
  -fsanitize-ignorelist=tests/analysers/ubsan.ignore
FUZZ_OBJECTS = $(ROOMS:%=$(B)/fuzz/ext-%.o) $(B)/fuzz/fuzz.o
FUZZ_SEEDS = $(B)/fuzz/seeds/done
AFL_OBJECTS = $(ROOMS:%=$(B)/fuzz/afl/ext-%.o)

CHECK_FILES += $(FUZZERS:%=$(B)/fuzz/replay-%) $(FUZZ_SEEDS)
CHECK_SUITES += 'BLOOM=$(B)/bloom.so tests/fuzz/replay.sh $(FUZZERS)'
GATE_FILES += $(FUZZERS:%=$(B)/fuzz/fuzz-%) $(FUZZERS:%=$(B)/fuzz/afl-%)
GATE_FILES += $(NEWEST)/libsqlite3.so.0
GATE_SUITES += 'LD_LIBRARY_PATH=$(NEWEST) BLOOM=$(B)/bloom.so tests/fuzz/replay.sh $(FUZZERS)'
GATE_BESIDE += 'tests/fuzz/fuzz.sh 8 $(FUZZERS)' 'tests/fuzz/afl.sh 5 blob'

.PHONY: fuzz fuzz-afl
FUZZ_PROGRAMS = $(FUZZERS:%=$(B)/fuzz/fuzz-%)
fuzz: $(FUZZ_PROGRAMS) $(FUZZ_SEEDS) ## FUZZ_SECONDS (3600) of each of FUZZERS; needs deps-ci
	@tests/run 'tests/fuzz/fuzz.sh $(FUZZ_SECONDS) $(FUZZERS)'

fuzz-afl: $(FUZZERS:%=$(B)/fuzz/afl-%) $(FUZZ_SEEDS) ## the same with AFL++; needs deps-ci
	@tests/run 'tests/fuzz/afl.sh $(FUZZ_SECONDS) $(FUZZERS)'

$(B)/fuzz $(B)/fuzz/afl:
	mkdir -p $@

$(FUZZ_SEEDS): tests/fuzz/seeds.sh $(wildcard tests/golden/*.bloom sql/*.sql tests/sql/*.sql)
	tests/fuzz/seeds.sh $(@D)
	touch $@

.SECONDARY: $(FUZZ_OBJECTS) $(AFL_OBJECTS)
FUZZ_COMMON = tests/fuzz/fuzz.h ext/hash.h tests/fuzz/suite.mk

# Replayed: the extension is loaded.
$(B)/fuzz/replay-%: tests/fuzz/%.c tests/fuzz/fuzz.c $(FUZZ_COMMON) | $(B)/fuzz $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -DREPLAY -o $@ $< tests/fuzz/fuzz.c -lsqlite3 -lm

# Fuzzed: it is compiled in. fuzz-% with libFuzzer, afl-% with AFL++.
$(B)/fuzz/ext-%.o: ext/%.c $(HEADERS) tests/fuzz/suite.mk tests/analysers/ubsan.ignore \
    | $(B)/fuzz $(DEPS_FIRST)
	$(FUZZ_CC) -std=c11 -D_DEFAULT_SOURCE -DSQLITE_CORE -ffp-contract=off $(FUZZ_EXT) -c -o $@ $<

$(B)/fuzz/fuzz.o: tests/fuzz/fuzz.c $(FUZZ_COMMON) | $(B)/fuzz $(DEPS_FIRST)
	$(FUZZ_CC) $(TEST_CFLAGS) -D_GNU_SOURCE -DSQLITE_CORE $(FUZZ_FLAGS) -c -o $@ $<

$(B)/fuzz/fuzz-%: tests/fuzz/%.c $(FUZZ_OBJECTS) $(FUZZ_COMMON)
	$(FUZZ_CC) $(TEST_CFLAGS) -D_GNU_SOURCE -DSQLITE_CORE $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< \
	  $(FUZZ_OBJECTS) -lsqlite3 -lm

$(B)/fuzz/afl/ext-%.o: ext/%.c $(HEADERS) tests/fuzz/suite.mk | $(B)/fuzz/afl $(DEPS_FIRST)
	AFL_QUIET=1 afl-clang-fast -std=c11 -D_DEFAULT_SOURCE -DSQLITE_CORE -ffp-contract=off -O2 -g -c -o $@ $<

$(B)/fuzz/afl-%: tests/fuzz/%.c tests/fuzz/fuzz.c $(AFL_OBJECTS) $(FUZZ_COMMON)
	AFL_QUIET=1 afl-clang-fast $(TEST_CFLAGS) -D_GNU_SOURCE -DSQLITE_CORE -DREPLAY -o $@ $< \
	  tests/fuzz/fuzz.c $(AFL_OBJECTS) -lsqlite3 -lm
