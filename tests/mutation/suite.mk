# Mutants of ext/: small bugs, each of which a test must see. README.md here says how. The gate
# tries a few.
MUTATION = $(B)/mutation
# What BLOOM_ALWAYS and BLOOM_NEVER say is constant: no mutants there.
MUTATION_COMPILE = $(CC) -std=c11 -D_DEFAULT_SOURCE -w -O1 -fPIC -fvisibility=hidden \
  -ffp-contract=off -DBLOOM_COVERAGE -Iext
MUTATION_TESTS = $(foreach folder,unit table oom promise,$(wildcard tests/$(folder)/*.c))
MUTATION_OBJECTS = $(foreach kind,loadable core sanitized,$(ROOMS:%=$(MUTATION)/$(kind)/%.o))
MUTATION_FILES = $(MUTATION_OBJECTS) $(MUTATION)/core/library.o $(MUTATION)/loadable/library.o \
  $(MUTATION_TESTS:%.c=$(MUTATION)/%.o) $(MUTATION)/tests/packages/library.o \
  $(B)/follow $(B)/table/table $(B)/damage \
  $(NEWEST)/libsqlite3.so.0 \
  $(addprefix $(B)/sql-,errors functions placement statements)
MUTATION_RUN = BUILD=$(B) NEWEST=$(NEWEST) COMPILE="$(MUTATION_COMPILE)" \
  /usr/bin/python3 -B tests/mutation/run.py

GATE_FILES += $(MUTATION_FILES)
GATE_SUITES += '$(MUTATION_RUN) short'

.PHONY: mutation
mutation: $(MUTATION_FILES) ## 1,000 small bugs in ext/, and which test sees each; takes hours
	@$(MUTATION_RUN) full $(MUTATION_OPTIONS)

$(MUTATION)/loadable/%.o: ext/%.c $(HEADERS) tests/mutation/suite.mk | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(MUTATION_COMPILE) -c -o $@ $<

$(MUTATION)/core/%.o: ext/%.c $(HEADERS) tests/mutation/suite.mk | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(MUTATION_COMPILE) -DSQLITE_CORE -c -o $@ $<

$(MUTATION)/sanitized/%.o: ext/%.c $(HEADERS) tests/mutation/suite.mk | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(MUTATION_COMPILE) -DSQLITE_CORE -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	  -c -o $@ $<

$(MUTATION)/tests/%.o: tests/%.c $(wildcard tests/*/*.h) $(HEADERS) | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -DSQLITE_CORE -c -o $@ $<
