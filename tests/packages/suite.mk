# What is given to others: the amalgamation, `make install`, the packages, the release.
AMALGAMATION = $(B)/amalgamation/bloom.c

$(B)/packages:
	mkdir -p $@

# bloom.c by itself, as strict as the rooms: with SQLite compiled in, and without SQLite.
$(B)/packages/core.o: $(AMALGAMATION) | $(B)/packages
	$(CC) -std=c11 $(WARNINGS) -O1 -ffp-contract=off -DSQLITE_CORE -c -o $@ $<

$(B)/packages/plain.o: $(AMALGAMATION) | $(B)/packages
	$(CC) -std=c11 $(WARNINGS) -O1 -ffp-contract=off -DBLOOM_NO_SQLITE -c -o $@ $<

$(B)/packages/library: tests/packages/library.c $(B)/packages/core.o
	$(CC) -std=c11 $(WARNINGS) -I$(B)/amalgamation -o $@ $^ -lsqlite3 -lm

CHECK_FILES += $(B)/packages/library $(B)/packages/plain.o $(B)/libsqlite-bloom.a
CHECK_SUITES += '$(B)/packages/library' 'B=$(B) CC="$(CC)" tests/packages/c.sh'

# The same for C++ and clang.
GATE_SUITES += 'B=$(B) CC="$(CC)" tests/packages/cpp.sh'
