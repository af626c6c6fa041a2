# The scripts in sql/: each runs, and prints what its .expected file here says. The demo is one of
# them; since it takes longer than all others together, the gate tests it. The gate also runs all
# others with the newest SQLite.
CHECK_SUITES += 'tests/examples/run.sh'
GATE_FILES += $(B)/examples/newest.so $(NEWEST)/libsqlite3.so.0
GATE_SUITES += 'tests/examples/demo.sh' 'tests/examples/newest.sh'

$(B)/examples/newest.so: tests/examples/newest.c | $(DEPS_FIRST)
	mkdir -p $(@D)
	$(CC) -std=c11 -Wall -Wextra -Werror -fPIC $(CFLAGS) -shared -o $@ $<

.PHONY: demo
demo: $(B)/bloom.so | $(DEPS_FIRST) ## a join over real words, without and with a filter
	@sed 's|build/|$(B)/|' sql/demo.sql | sqlite3
