# What users install: packages of Python and Node, each around a library that is compiled already.
#
# A platform is named as Node names it. The native one is compiled from ext/ by CC; the others by a
# cross compiler from bloom.c, which needs none of their headers but libc's.
NATIVE := linux-$(patsubst x86_64,x64,$(patsubst aarch64,arm64,$(shell uname -m)))
PACKAGES = $(B)/packages
PLATFORM_DIR = $(B)/platforms

NATIVE_PACKAGES = $(PACKAGES)/$(NATIVE).whl $(PACKAGES)/sqlite-bloom-$(VERSION).tgz \
  $(PACKAGES)/sqlite-bloom-$(NATIVE)-$(VERSION).tgz

.PHONY: packages
packages: $(NATIVE_PACKAGES) ## build/packages: a wheel and Node's packages for this platform

$(PLATFORM_DIR)/$(NATIVE)/bloom.so: $(B)/bloom.so
	mkdir -p $(@D)
	strip --strip-unneeded -o $@ $<

# The wheel's own name states version and platform; the target is a link to it.
$(PACKAGES)/%.whl: $(PLATFORM_DIR)/%/bloom.so ext/packages/wheel.sh \
    $(shell find ext/packages/python -type f) LICENSE
	mkdir -p $(@D)
	ext/packages/wheel.sh $* $< $(VERSION) $(@D)

$(PACKAGES)/sqlite-bloom-%-$(VERSION).tgz: $(PLATFORM_DIR)/%/bloom.so ext/packages/npm.sh LICENSE
	mkdir -p $(@D)
	ext/packages/npm.sh $(VERSION) $(@D) $* $<

$(PACKAGES)/sqlite-bloom-$(VERSION).tgz: ext/packages/npm.sh $(wildcard ext/packages/node/*) LICENSE \
    | $(DEPS_FIRST)
	mkdir -p $(@D)
	ext/packages/npm.sh $(VERSION) $(@D)

# ---- the release ----

# Cross compilers get bloom.c, and of the headers of SQLite, which are the same everywhere, a copy.
CC_linux-arm64 = aarch64-linux-gnu-gcc-12
CC_linux-x64-musl = musl-gcc
PLATFORMS = $(NATIVE) linux-arm64 linux-x64-musl
DIST = $(B)/dist/sqlite-bloom-$(VERSION)

$(PLATFORM_DIR)/include/sqlite3ext.h: | $(DEPS_FIRST)
	mkdir -p $(@D)
	for name in sqlite3 sqlite3ext; do \
	  cp "$$(echo "#include <$$name.h>" | $(CC) -E -x c - | \
	    sed -n "s/^# [0-9]* \"\(.*\/$$name\.h\)\".*/\1/p" | head -n 1)" $(@D) || exit 1; \
	done

$(PLATFORM_DIR)/%/bloom.so: $(B)/amalgamation/bloom.c $(PLATFORM_DIR)/include/sqlite3ext.h
	mkdir -p $(@D)
	$(CC_$*) $(filter-out -g,$(ALL_CFLAGS)) -shared -s -isystem $(PLATFORM_DIR)/include -o $@ $< -lm

.SECONDARY: $(PLATFORMS:%=$(PLATFORM_DIR)/%/bloom.so)
.PHONY: dist dist-check
dist-check:
	@grep -qx '## $(VERSION)' CHANGELOG.md || \
	  { echo "dist: CHANGELOG.md has no chapter $(VERSION)" >&2; exit 1; }
	@git rev-parse -q --verify HEAD >/dev/null 2>&1 || \
	  { echo "dist: the source tarball is made from a git checkout" >&2; exit 1; }

DIST_PACKAGES = $(PACKAGES)/sqlite-bloom-$(VERSION).tgz \
  $(PLATFORMS:%=$(PACKAGES)/sqlite-bloom-%-$(VERSION).tgz)

dist: dist-check $(PLATFORMS:%=$(PACKAGES)/%.whl) $(DIST_PACKAGES) $(B)/amalgamation/bloom.c
dist: ## build/dist: source, libraries for three platforms, packages, checksums; needs deps-ci
	rm -rf $(B)/dist
	mkdir -p $(B)/dist
	git archive --format=tar.gz --prefix=sqlite-bloom-$(VERSION)/ -o $(DIST).tar.gz HEAD
	ext/packages/pack.sh $(DIST)-amalgamation.tar.gz $(B)/amalgamation/bloom.[ch] LICENSE
	for platform in $(PLATFORMS); do \
	  ext/packages/pack.sh $(DIST)-$$platform.tar.gz $(PLATFORM_DIR)/$$platform/bloom.so LICENSE && \
	  cp $(PACKAGES)/$$(readlink $(PACKAGES)/$$platform.whl) $(B)/dist || exit 1; \
	done
	cp $(DIST_PACKAGES) CHANGELOG.md $(B)/dist
	cd $(B)/dist && sha256sum * >SHA256SUMS
