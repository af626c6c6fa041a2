# Other machines and other versions of SQLite. README.md here says which, and what runs on them.
MACHINES = m32 unsigned-char signed-char musl s390x arm64
VERSIONS = sqlite-3.34.0 sqlite-3.43.0 sqlite-newest
MACHINES_GATE = m32 unsigned-char musl s390x arm64 sqlite-3.34.0 sqlite-3.43.0

GATE_FILES += $(B)/sql-shell
GATE_BESIDE += 'tests/machines/floor.sh'
GATE_BESIDE += $(patsubst %,'tests/machines/run.sh short %',$(MACHINES_GATE))

.PHONY: machines
machines: $(B)/bloom.so $(B)/sql-bytes $(B)/sql-shell ## the tests on other machines and SQLites
	@NO_SKIPS=1 tests/run 'tests/machines/floor.sh' \
	  $(patsubst %,'tests/machines/run.sh long %',$(MACHINES) $(VERSIONS))

# What run.sh makes, with the machine's B and CC, its name in MACHINE, and the B that it came from
# in HERE.
# With 32 bits two tests have no 128-bit type to compare with.
MACHINE_NOT = $(if $(filter m32,$(MACHINE)),filter platform)
MACHINE_UNITS = $(filter-out $(MACHINE_NOT),sizing filter format hashes platform)
MACHINE_GOLDEN = 'tests/golden/run.sh counting-lines grown-by-add spelt-numbers reals'
MACHINE_DRIVERS = errors functions placement statements
MACHINE_SUITES = @tests/machines/suites.sh $(MACHINE) $(MACHINE_GOLDEN)
WITH_NEWER = BLOOM=$(B)/newer/bloom.so

.PHONY: machine-short machine-long version-short version-long
machine-short: $(B)/bloom.so $(MACHINE_UNITS:%=$(B)/unit/%)
	$(MACHINE_SUITES) $(MACHINE_UNITS:%='CMOCKA_MESSAGE_OUTPUT=TAP $(B)/unit/%')

machine-long: $(B)/sql-bytes
	@$(MAKE) -s $(filter-out $(MACHINE_NOT:%=$(B)/unit/%),$(CHECK_FILES))
	$(MACHINE_SUITES) 'HERE=$(HERE) tests/machines/bytes.sh' $(CHECK_SUITES)

# An extension that was built with the headers of a newer SQLite than the one that loads it.
$(B)/newer/bloom.so: $(ROOMS:%=ext/%.c) $(HEADERS)
	mkdir -p $(@D)
	$(CC) -I$(NEWEST) $(ALL_CFLAGS) -shared -o $@ $(ROOMS:%=ext/%.c) -lm

version-short: $(B)/bloom.so $(B)/newer/bloom.so $(MACHINE_DRIVERS:%=$(B)/sql-%)
	$(MACHINE_SUITES) tests/readme/files.sh $(MACHINE_DRIVERS:%='$(WITH_NEWER) $(B)/sql-%')

version-long: $(B)/newer/bloom.so
	@$(MAKE) -s $(CHECK_FILES)
	$(MACHINE_SUITES) $(CHECK_SUITES) $(MACHINE_DRIVERS:%='$(WITH_NEWER) $(B)/sql-%') \
	  '$(WITH_NEWER) $(B)/follow quick' '$(WITH_NEWER) $(B)/table/table quick input transactions house'
