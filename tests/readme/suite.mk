# README.md's examples run, and its list of functions is the real one.
CHECK_FILES += $(B)/readme-blocks
CHECK_SUITES += '$(B)/readme-blocks README.md $(B)/bloom.so'

# What it says of bloom tables in files: dumps, backups, writers without the extension.
CHECK_SUITES += 'B=$(B) tests/readme/files.sh'

# Its instructions for loading the extension, followed; its examples with the newest SQLite.
GATE_FILES += $(NEWEST)/libsqlite3.so.0 $(B)/amalgamation/bloom.c
GATE_SUITES += 'tests/readme/load.sh' \
  'LD_LIBRARY_PATH=$(NEWEST) $(B)/readme-blocks README.md $(B)/bloom.so'

$(B)/readme-%: tests/readme/%.c Makefile | $(B) $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -o $@ $< -lsqlite3
