# of=: bloom tables that triggers keep in step with another table. Each file says what it tests.
FOLLOW_SOURCES = $(wildcard tests/follow/*.c)

CHECK_FILES += $(B)/follow
CHECK_SUITES += 'BLOOM=$(B)/bloom.so $(B)/follow quick'
GATE_FILES += $(B)/follow $(NEWEST)/libsqlite3.so.0
GATE_SUITES += 'BLOOM=$(B)/bloom.so $(B)/follow short mix input'
GATE_SUITES += 'LD_LIBRARY_PATH=$(NEWEST) BLOOM=$(B)/bloom.so $(B)/follow short'
FOLLOW_VALGRIND = valgrind -q --error-exitcode=9 --leak-check=full
GATE_SUITES += 'BLOOM=$(B)/bloom.so $(FOLLOW_VALGRIND) $(B)/follow tiny'

.PHONY: follow-long
follow-long: $(B)/follow $(B)/bloom.so ## the tests of of= at full length
	@tests/run 'BLOOM=$(B)/bloom.so $(B)/follow long'

$(B)/follow: $(FOLLOW_SOURCES) tests/follow/follow.h | $(B) $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -o $@ $(FOLLOW_SOURCES) -lsqlite3 -lm
