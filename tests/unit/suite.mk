# Unit tests: cmocka, one program for each room of ext/.
UNIT_KERNEL = sizing filter format hashes platform
UNIT_LINK = $(KERNEL:%=$(B)/%.o) -lcmocka -lm
UNIT_ENV = CMOCKA_MESSAGE_OUTPUT=TAP
UNIT_SOURCES = $(KERNEL:%=ext/%.c)
UNIT_SANITIZED = $(KERNEL:%=$(B)/analysers/ext-%.o)

CHECK_FILES += $(UNIT_KERNEL:%=$(B)/unit/%) $(B)/unit/key
CHECK_SUITES += $(foreach test,$(UNIT_KERNEL) key,'$(UNIT_ENV) $(B)/unit/$(test)')
# The gate: finer grids, sanitizers, the branches of compilers without a 128-bit type, newest SQLite.
GATE_FILES += $(UNIT_KERNEL:%=$(B)/unit/%-sanitized) $(B)/unit/key-sanitized
GATE_FILES += $(B)/unit/filter-portable $(B)/unit/platform-portable $(NEWEST)/libsqlite3.so.0
GATE_SUITES += '$(UNIT_ENV) $(B)/unit/sizing dense'
GATE_SUITES += $(foreach test,filter format hashes platform key,'$(UNIT_ENV) $(B)/unit/$(test)-sanitized')
GATE_SUITES += '$(UNIT_ENV) $(B)/unit/filter-portable' '$(UNIT_ENV) $(B)/unit/platform-portable'
GATE_SUITES += 'LD_LIBRARY_PATH=$(NEWEST) $(UNIT_ENV) $(B)/unit/key'

$(B)/unit:
	mkdir -p $@

$(B)/unit/%: tests/unit/%.c tests/unit/unit.h $(KERNEL:%=$(B)/%.o) $(HEADERS) | $(B)/unit $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -o $@ $< $(UNIT_LINK)

$(B)/unit/%-sanitized: tests/unit/%.c tests/unit/unit.h $(UNIT_SANITIZED) | $(B)/unit
	$(SANITIZE_TEST) -o $@ $< $(UNIT_SANITIZED) -lcmocka -lm

$(B)/unit/%-portable: tests/unit/%.c tests/unit/unit.h $(UNIT_SOURCES) $(HEADERS) | $(B)/unit $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -DBLOOM_NO_INT128 -o $@ $< $(UNIT_SOURCES) -lcmocka -lm

# key.c talks to SQLite: compiled in, as -DSQLITE_CORE does it.
$(B)/unit/ext-key.o: ext/key.c $(HEADERS) Makefile | $(B)/unit $(DEPS_FIRST)
	$(CC) $(ALL_CFLAGS) -DSQLITE_CORE -c -o $@ $<

$(B)/unit/key: tests/unit/key.c tests/unit/unit.h $(B)/unit/ext-key.o | $(B)/unit $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -DSQLITE_CORE -o $@ $< $(B)/unit/ext-key.o -lcmocka -lsqlite3 -lm

$(B)/unit/key-sanitized: tests/unit/key.c tests/unit/unit.h $(B)/analysers/ext-key.o | $(B)/unit
	$(SANITIZE_TEST) -o $@ $< $(B)/analysers/ext-key.o -lcmocka -lsqlite3 -lm
