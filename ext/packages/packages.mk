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
	cp $< $@
	strip --strip-unneeded $@

# The wheel's own name states version and platform; the target is a link to it.
$(PACKAGES)/%.whl: $(PLATFORM_DIR)/%/bloom.so ext/packages/wheel.sh \
    $(shell find ext/packages/python -type f) LICENSE
	mkdir -p $(@D)
	ext/packages/wheel.sh $* $< $(VERSION) $(@D)

$(PACKAGES)/sqlite-bloom-%-$(VERSION).tgz: $(PLATFORM_DIR)/%/bloom.so ext/packages/npm.sh LICENSE
	mkdir -p $(@D)
	ext/packages/npm.sh $(VERSION) $(@D) $* $<

$(PACKAGES)/sqlite-bloom-$(VERSION).tgz: ext/packages/npm.sh $(wildcard ext/packages/node/*) LICENSE
	mkdir -p $(@D)
	ext/packages/npm.sh $(VERSION) $(@D)
