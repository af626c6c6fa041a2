# What compilers and checkers find. README.md here says what each does; sanitized objects of ext/
# are shared by the suites.
#
# clang's undefined and integer groups: unsigned wraps, implicit conversions that change a value.
# The integer group is for ext/ alone: SQLite and the tests' random numbers wrap as they like.
SANITIZE_CC = clang
SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
SANITIZE_EXT = $(SANITIZE) -fsanitize=integer,float-divide-by-zero \
  -fsanitize-ignorelist=tests/analysers/ubsan.ignore
SANITIZED = $(ROOMS:%=$(B)/analysers/ext-%.o)
# Long SQL in lists of strings is broken into lines on purpose.
SANITIZE_TEST = $(SANITIZE_CC) -std=c11 -Wall -Wextra -Werror -Wno-string-concatenation -Iext \
  -D_GNU_SOURCE -DSQLITE_CORE $(SANITIZE)

$(B)/analysers:
	mkdir -p $@

$(B)/analysers/ext-%.o: ext/%.c $(HEADERS) Makefile tests/analysers/suite.mk \
    tests/analysers/ubsan.ignore | $(B)/analysers $(DEPS_FIRST)
	$(SANITIZE_CC) -std=c11 -D_DEFAULT_SOURCE $(WARNINGS) -ffp-contract=off -DSQLITE_CORE $(SANITIZE_EXT) -c -o $@ $<

# Test programs of other folders, each with the sanitized extension compiled in.
$(B)/analysers/sql-%: tests/sql/%.c tests/sql/sqltest.h $(SANITIZED)
	$(SANITIZE_TEST) -o $@ $< $(SANITIZED) -lsqlite3 -lm

$(B)/analysers/damage: $(wildcard tests/damage/*) tests/sql/sqltest.h $(SANITIZED)
	$(SANITIZE_TEST) -o $@ tests/damage/*.c $(SANITIZED) -lsqlite3 -lm

$(B)/analysers/follow: $(wildcard tests/follow/*) $(SANITIZED)
	$(SANITIZE_TEST) -o $@ tests/follow/*.c $(SANITIZED) -lsqlite3 -lm

SANITIZED_TESTS = $(addprefix $(B)/analysers/,damage follow sql-errors sql-functions sql-placement sql-statements)
SANITIZED_TESTS += $(B)/oom/oom-sanitized $(B)/table/sanitized

# The gate's short form; oom, table and unit have theirs in their own folders.
GATE_FILES += $(SANITIZED_TESTS)
GATE_BESIDE += '$(B)/analysers/damage quick' '$(B)/analysers/follow quick life'
GATE_BESIDE += $(foreach test,errors functions placement statements,'$(B)/analysers/sql-$(test)')
GATE_BESIDE += $(foreach tool,fanalyzer cppcheck tidy,'tests/analysers/analyse.sh $(tool)')
VALGRIND = BLOOM=$(B)/bloom.so valgrind -q --error-exitcode=9 --leak-check=full
GATE_BESIDE += $(foreach test,errors functions,'$(VALGRIND) $(B)/sql-$(test)')

.PHONY: sanitize analyse valgrind
sanitize: $(SANITIZED_TESTS) $(B)/unit/key-sanitized $(UNIT_KERNEL:%=$(B)/unit/%-sanitized) ## long tests under address and undefined-behaviour sanitizers; needs deps-ci
	@tests/run $(foreach test,$(UNIT_KERNEL) key,'$(UNIT_ENV) $(B)/unit/$(test)-sanitized') \
	  $(foreach test,errors functions placement statements,'$(B)/analysers/sql-$(test)') \
	  '$(B)/analysers/damage long' '$(B)/analysers/follow short' '$(B)/table/sanitized short' \
	  '$(B)/oom/oom-sanitized short'

analyse: | $(DEPS_FIRST) ## gcc -fanalyzer, cppcheck and clang-tidy on ext/; needs deps-ci
	@tests/run $(foreach tool,fanalyzer cppcheck tidy,'tests/analysers/analyse.sh $(tool)')

valgrind: $(B)/bloom.so $(SQL_PROGRAMS) $(B)/damage $(B)/follow ## the SQL tests under valgrind; needs deps-ci
	@tests/run $(foreach test,$(SQL_DRIVERS),'$(VALGRIND) $(B)/sql-$(test)') \
	  '$(VALGRIND) $(B)/damage quick' '$(VALGRIND) $(B)/follow tiny'
