# What fails below the extension: allocations, files, interrupts, limits. The extension is compiled
# into the test program. README.md here lists what is tested.
OOM_SOURCES = $(wildcard tests/oom/*.c)
OOM_OBJECTS = $(ROOMS:%=$(B)/oom/ext-%.o)

CHECK_FILES += $(B)/oom/oom
CHECK_SUITES += '$(B)/oom/oom quick'
GATE_FILES += $(B)/oom/oom-sanitized
GATE_SUITES += '$(B)/oom/oom short' '$(B)/oom/oom-sanitized quick'

.PHONY: oom
oom: $(B)/oom/oom ## every allocation, read and write fails, for every n; takes long
	@tests/run '$(B)/oom/oom long'

$(B)/oom:
	mkdir -p $@

$(B)/oom/ext-%.o: ext/%.c $(HEADERS) Makefile | $(B)/oom $(DEPS_FIRST)
	$(CC) $(ALL_CFLAGS) -DSQLITE_CORE -c -o $@ $<

$(B)/oom/oom: $(OOM_SOURCES) tests/oom/oom.h $(OOM_OBJECTS) | $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -o $@ $(OOM_SOURCES) $(OOM_OBJECTS) -lsqlite3 -lm

$(B)/oom/oom-sanitized: $(OOM_SOURCES) tests/oom/oom.h $(SANITIZED) | $(B)/oom
	$(SANITIZE_TEST) -o $@ $(OOM_SOURCES) $(SANITIZED) -lsqlite3 -lm
