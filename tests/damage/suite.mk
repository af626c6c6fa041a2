# Golden filters damaged in every named way, through every call; each file says what it tests.
DAMAGE_SOURCES = $(wildcard tests/damage/*.c)
DAMAGE_DEPENDS = $(DAMAGE_SOURCES) $(wildcard tests/damage/*.h) tests/sql/sqltest.h

CHECK_FILES += $(B)/damage
CHECK_SUITES += 'BLOOM=$(B)/bloom.so $(B)/damage quick'

.PHONY: damage
damage: $(B)/damage $(B)/bloom.so ## every field, length and bit of the golden filters damaged
	@tests/run 'BLOOM=$(B)/bloom.so $(B)/damage long'

$(B)/damage: $(DAMAGE_DEPENDS) | $(B) $(DEPS_FIRST)
	$(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -o $@ $(DAMAGE_SOURCES) -lsqlite3 -lm
