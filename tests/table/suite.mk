# The bloom table: bad input, damage, transactions, faults, kills and several processes. The
# extension is compiled into the test program.
TABLE_SOURCES = $(wildcard tests/table/*.c)
TABLE_OBJECTS = $(ROOMS:%=$(B)/table/ext-%.o)

CHECK_FILES += $(B)/table/table
CHECK_SUITES += '$(B)/table/table quick'
GATE_FILES += $(B)/table/sanitized $(NEWEST)/libsqlite3.so.0
GATE_SUITES += '$(B)/table/table short steps kill processes'
GATE_SUITES += 'LD_LIBRARY_PATH=$(NEWEST) $(B)/table/table short steps'
GATE_SUITES += 'LD_LIBRARY_PATH=$(NEWEST) $(B)/table/table quick'
GATE_SUITES += '$(B)/table/sanitized quick input damage transactions house faults steps'
GATE_SUITES += 'BLOOM=$(B)/bloom.so $(B)/table/table quick input transactions house'

.PHONY: table-long
table-long: $(B)/table/table ## the tests of the bloom table at full length
	@tests/run '$(B)/table/table long'

$(B)/table:
	mkdir -p $@

$(B)/table/ext-%.o: ext/%.c $(HEADERS) Makefile | $(B)/table $(DEPS_FIRST)
	$(CC) $(ALL_CFLAGS) -DSQLITE_CORE -c -o $@ $<

$(B)/table/table: $(TABLE_SOURCES) tests/table/table.h $(TABLE_OBJECTS) | $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -o $@ $(TABLE_SOURCES) $(TABLE_OBJECTS) -lsqlite3 -lm

$(B)/table/sanitized: $(TABLE_SOURCES) tests/table/table.h $(SANITIZED) | $(B)/table
	$(SANITIZE_TEST) -o $@ $(TABLE_SOURCES) $(SANITIZED) -lsqlite3 -lm
