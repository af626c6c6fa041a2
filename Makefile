# bloom: Bloom filters for SQLite. `make help` lists the targets.

CC ?= cc
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
B ?= build
VERSION := $(shell sed -n 's/^\#define BLOOM_VERSION "\([^"]*\)".*/\1/p' ext/bloom.h)

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wvla -Werror
# No fused multiply-add: every machine must compute the same sizes.
ALL_CFLAGS = -std=c11 -D_DEFAULT_SOURCE $(WARNINGS) -fPIC -fvisibility=hidden -ffp-contract=off $(CFLAGS)

KERNEL = sizing filter format draft hashes
SQL_ROOMS = args describe store follow table functions aggregates extension
ROOMS = $(SQL_ROOMS) key $(KERNEL)
OBJECTS = $(ROOMS:%=$(B)/%.o)
HEADERS = $(wildcard ext/*.h)

# With `make deps check`, also under -j, nothing is compiled before deps is through.
DEPS_FIRST = $(filter deps deps-ci,$(MAKECMDGOALS))

.PHONY: all help deps deps-ci clean install amalgamation
all: $(B)/bloom.so ## build/bloom.so, the loadable extension

help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## /{printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps: ## installs what building, the demo and the tests need (Debian packages)
	@sh .ci/deps base

deps-ci: deps ## installs what only the gate needs: python3, clang, valgrind, the newest SQLite
	@sh .ci/deps ci

$(B):
	mkdir -p $@

$(B)/%.o: ext/%.c $(HEADERS) Makefile | $(B) $(DEPS_FIRST)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/bloom.so: $(OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ -lm

amalgamation: $(B)/amalgamation/bloom.c ## build/amalgamation/bloom.c and bloom.h, for programs of C and C++

$(B)/amalgamation/bloom.c: ext/packages/amalgamate.sh ext/library.c $(ROOMS:%=ext/%.c) $(HEADERS) \
    | $(DEPS_FIRST)
	CC="$(CC)" ext/packages/amalgamate.sh $(@D) "$(KERNEL) key library" "$(SQL_ROOMS)"

# The filters without SQLite, as a library beside bloom.h.
$(B)/libsqlite-bloom.a: $(B)/amalgamation/bloom.c Makefile
	$(CC) $(ALL_CFLAGS) -DBLOOM_NO_SQLITE -c -o $(B)/libsqlite-bloom.o $<
	rm -f $@
	$(AR) rcs $@ $(B)/libsqlite-bloom.o

# What pkg-config knows.
define PC
prefix=$(PREFIX)
Name: sqlite-bloom
Description: Bloom filters for SQLite: filters without SQLite
Version: $(VERSION)
Cflags: -I$${prefix}/include/sqlite-bloom
Libs: -L$${prefix}/lib -lsqlite-bloom -lm
endef
export PC

TO = $(DESTDIR)$(PREFIX)
install: $(B)/bloom.so $(B)/libsqlite-bloom.a ## bloom.so, bloom.h, its library and the documents to $(DESTDIR)$(PREFIX)
	install -d $(TO)/lib/sqlite3 $(TO)/lib/pkgconfig $(TO)/include/sqlite-bloom
	install -d $(TO)/share/doc/sqlite-bloom
	install -m 644 $(B)/bloom.so $(TO)/lib/sqlite3/bloom.so
	install -m 644 $(B)/libsqlite-bloom.a $(TO)/lib/libsqlite-bloom.a
	install -m 644 ext/bloom.h $(TO)/include/sqlite-bloom/bloom.h
	install -m 644 README.md CHANGELOG.md LICENSE ext/FORMAT.md $(TO)/share/doc/sqlite-bloom
	echo "$$PC" >$(TO)/lib/pkgconfig/sqlite-bloom.pc

clean: ## removes everything that make made
	rm -rf $(B)

include ext/packages/packages.mk
-include tests/tests.mk
