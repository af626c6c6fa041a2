# Mutants of ext/: small bugs, each of which a test must see. README.md here says how. The gate
# tries a few.
MUTATION = $(B)/mutation
# What BLOOM_ALWAYS and BLOOM_NEVER say is constant: no mutants there.
MUTATION_COMPILE = $(CC) -std=c11 -D_DEFAULT_SOURCE -w -O1 -fPIC -fvisibility=hidden \
  -ffp-contract=off -DBLOOM_COVERAGE -Iext
MUTATION_TESTS = $(foreach folder,unit oom promise,$(wildcard tests/$(folder)/*.c))
MUTATION_FILES = $(MUTATION_TESTS:%.c=$(MUTATION)/%.o) $(MUTATION)/tests/packages/library.o \
  $(MUTATION)/tests/sql/tails.o $(B)/tails-aggregates.o $(B)/tails-draft.o \
  $(MUTATION)/library.o $(MUTATION)/ext-library.o $(ROOMS:%=$(B)/%.o) $(ROOMS:%=$(B)/oom/ext-%.o) \
  $(B)/follow $(B)/table/table $(B)/damage $(NEWEST)/libsqlite3.so.0 \
  $(addprefix $(B)/sql-,errors functions placement statements)
MUTATION_RUN = BUILD=$(B) NEWEST=$(NEWEST) COMPILE="$(MUTATION_COMPILE)" \
  /usr/bin/python3 -B tests/mutation/run.py

GATE_FILES += $(MUTATION_FILES)
GATE_SUITES += '$(MUTATION_RUN) short'

.PHONY: mutation
mutation: $(MUTATION_FILES) ## 1,000 small bugs in ext/, and which test sees each; takes hours
	@$(MUTATION_RUN) full $(MUTATION_OPTIONS)

$(MUTATION)/library.o $(MUTATION)/ext-library.o: ext/library.c $(HEADERS) tests/mutation/suite.mk \
    | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(MUTATION_COMPILE) $(if $(findstring ext-,$@),-DSQLITE_CORE) -c -o $@ $<

$(MUTATION)/tests/%.o: tests/%.c $(wildcard tests/*/*.h) $(HEADERS) | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -DSQLITE_CORE -c -o $@ $<
