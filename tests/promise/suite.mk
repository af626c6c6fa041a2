# Statistics: does a filter keep its promises? The extension is compiled into the test program.
PROMISE_OBJECTS = $(ROOMS:%=$(B)/promise/ext-%.o)
PROMISE_SOURCES = $(wildcard tests/promise/*.c)

CHECK_FILES += $(B)/promise/promise
CHECK_SUITES += '$(B)/promise/promise quick'
GATE_FILES += $(NEWEST)/libsqlite3.so.0
GATE_SUITES += '$(B)/promise/promise short'
GATE_SUITES += 'LD_LIBRARY_PATH=$(NEWEST) $(B)/promise/promise quick'

.PHONY: promise
promise: $(B)/promise/promise ## the false-positive rates, growth and memory at full length
	@tests/run '$(B)/promise/promise long'

$(B)/promise:
	mkdir -p $@

$(B)/promise/ext-%.o: ext/%.c $(HEADERS) Makefile | $(B)/promise $(DEPS_FIRST)
	$(CC) $(ALL_CFLAGS) -DSQLITE_CORE -c -o $@ $<

$(B)/promise/promise: $(PROMISE_SOURCES) tests/promise/promise.h $(PROMISE_OBJECTS) | $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -DSQLITE_CORE -o $@ $(PROMISE_SOURCES) $(PROMISE_OBJECTS) -lsqlite3 -lm
