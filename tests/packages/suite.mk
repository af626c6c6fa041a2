# What is given to others: the amalgamation, `make install`, the packages, the release.
AMALGAMATION = $(B)/amalgamation/bloom.c

$(B)/packages-test:
	mkdir -p $@

# bloom.c by itself, as strict as the rooms: with SQLite compiled in, and without SQLite.
$(B)/packages-test/core.o: $(AMALGAMATION) | $(B)/packages-test
	$(CC) -std=c11 $(WARNINGS) -O1 -ffp-contract=off -DSQLITE_CORE -c -o $@ $<

$(B)/packages-test/plain.o: $(AMALGAMATION) | $(B)/packages-test
	$(CC) -std=c11 $(WARNINGS) -O1 -ffp-contract=off -DBLOOM_NO_SQLITE -c -o $@ $<

$(B)/packages-test/library: tests/packages/library.c $(B)/packages-test/core.o
	$(CC) -std=c11 $(WARNINGS) -I$(B)/amalgamation $(FAILING) -o $@ $^ -lsqlite3 -lm

FAILING = -Wl,--wrap=malloc,--wrap=realloc

# The rooms as they are, for coverage.
$(B)/packages-test/rooms: tests/packages/library.c $(B)/library.o $(OOM_OBJECTS) | $(B)/packages-test
	$(CC) $(TEST_CFLAGS) $(FAILING) -o $@ $^ -lsqlite3 -lm

CHECK_FILES += $(B)/packages-test/library $(B)/packages-test/plain.o $(B)/libsqlite-bloom.a
CHECK_SUITES += '$(B)/packages-test/library' 'B=$(B) CC="$(CC)" tests/packages/c.sh'

# The same under the sanitizers, and for C++ and clang.
$(B)/packages-test/library-sanitized: tests/packages/library.c $(AMALGAMATION) | $(B)/packages-test
	$(CC) -std=c11 -O1 -g -ffp-contract=off -DSQLITE_CORE -fsanitize=address,undefined \
	  -fno-sanitize-recover=all -I$(B)/amalgamation $(FAILING) -o $@ $^ -lsqlite3 -lm

GATE_FILES += $(B)/packages-test/library-sanitized
GATE_SUITES += '$(B)/packages-test/library-sanitized'
GATE_SUITES += 'B=$(B) CC="$(CC)" tests/packages/cpp.sh'

# The packages, each installed into an empty place outside of the tree and used there.
GATE_FILES += packages
GATE_SUITES += 'B=$(B) tests/packages/python.sh'
GATE_SUITES += 'B=$(B) NODE_PATH=$(abspath $(NODE_MODULES)) NEWER_NODE=$(abspath $(NEWER_NODE)) \
  tests/packages/node.sh'

# What the last needs from npm. Where npm finds no better-sqlite3 that is built, it compiles one,
# which takes minutes.
NODE_MODULES = build/readme-node/node_modules
NEWER_NODE = build/newer-node/node_modules/node-$(NATIVE)/bin/node
GATE_FILES += $(NODE_MODULES)/typescript/bin/tsc $(NEWER_NODE)

$(NODE_MODULES)/typescript/bin/tsc: | $(DEPS_FIRST)
	mkdir -p $(NODE_MODULES)
	npm install --silent --no-save --prefix build/readme-node better-sqlite3@12 typescript@5

$(NEWER_NODE): | $(DEPS_FIRST)
	mkdir -p build/newer-node
	npm install --silent --no-save --prefix build/newer-node node-$(NATIVE)@22

# The release, made and taken apart; SQLite is compiled for each platform.
GATE_SUITES += 'B=$(B) NEWEST=$(NEWEST) tests/packages/dist.sh'
