# SQL-level tests. README.md here lists what they cover.
SQL_DRIVERS = errors statements functions placement
SQL_PROGRAMS = $(SQL_DRIVERS:%=$(B)/sql-%)

$(B)/sql-%: tests/sql/%.c tests/sql/sqltest.h | $(B) $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -o $@ $< -lsqlite3 -lm

