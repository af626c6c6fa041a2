# SQL-level tests. README.md here lists what they cover.
SQL_DRIVERS = errors functions placement statements
SQL_SOURCES = $(ROOMS:%=ext/%.c)
SQL_PROGRAMS = $(SQL_DRIVERS:%=$(B)/sql-%)

$(B)/sql-%: tests/sql/%.c tests/sql/sqltest.h | $(B) $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -o $@ $< -lsqlite3 -lm -ldl

# Builds with a tail that few keys fill; the rooms that do not know of it are those of tests/oom.
SQL_TAILS = $(B)/tails-aggregates.o $(B)/tails-draft.o
SQL_TAILS += $(filter-out %/ext-aggregates.o %/ext-draft.o,$(OOM_OBJECTS))

$(B)/tails-%.o: ext/%.c $(HEADERS) Makefile | $(B) $(DEPS_FIRST)
	$(CC) $(ALL_CFLAGS) -DSQLITE_CORE -DBLOOM_LATE_KEYS=512 -c -o $@ $<

$(B)/sql-tails: tests/sql/tails.c tests/sql/sqltest.h $(SQL_TAILS) | $(B) $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -DSQLITE_CORE -o $@ $< $(SQL_TAILS) -lsqlite3 -lm

CHECK_FILES += $(SQL_PROGRAMS) $(B)/sql-tails
CHECK_SUITES += 'tests/sql/run.sh' $(SQL_DRIVERS:%='BLOOM=$(B)/bloom.so $(B)/sql-%')
CHECK_SUITES += 'CC="$(CC)" SOURCES="$(SQL_SOURCES)" tests/sql/linking.sh' '$(B)/sql-tails'

# The same on the newest SQLite, the bytes of other builds, threads under the sanitizer, big filters.
ON_NEWEST = LD_LIBRARY_PATH=$(NEWEST) BLOOM=$(B)/bloom.so

$(B)/sql-shell: tests/sql/shell.c | $(B) $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -o $@ $< -lsqlite3

$(B)/sql-threads: tests/sql/threads.c tests/sql/sqltest.h $(SQL_SOURCES) $(HEADERS) \
    $(NEWEST)/libsqlite3.so.0 | $(B)
	$(CC) -std=gnu11 -g -O1 -fsanitize=thread -DSQLITE_CORE -DSQLITE_THREADSAFE=1 -Iext -I$(NEWEST) \
	  -ffp-contract=off -o $@ tests/sql/threads.c $(SQL_SOURCES) $(NEWEST)/sqlite3.c \
	  -lm -lpthread -ldl

GATE_FILES += $(B)/sql-shell $(B)/sql-bytes $(B)/sql-threads $(NEWEST)/libsqlite3.so.0
GATE_SUITES += '$(ON_NEWEST) tests/sql/run.sh $(B)/sql-shell'
GATE_SUITES += $(SQL_DRIVERS:%='$(ON_NEWEST) $(B)/sql-%')
GATE_SUITES += 'NEWEST=$(NEWEST) SOURCES="$(SQL_SOURCES)" tests/sql/bytes.sh' '$(B)/sql-threads 10' 'tests/sql/big.sh'

.PHONY: check-big
check-big: $(B)/bloom.so ## filters of over 2^32 bits (2 GB of memory)
	@tests/run 'tests/sql/big.sh'
