# The commands of the README. Everything else is CMake (see CONTRIBUTING.md).
#   make campaign   set up, build, measure this CPU and the simulated Ascend, print the page's path
#   make test       set up, build, run every test
#   make portable   build what a GPU machine without these packages needs: build/portable/sonde/
#   make bench      set up, build, time the suite against bare loops (docs/bench.md)
#   make score      set up, build, prove how often the analyses are right (data/score/)
#   make torture    set up, build, try to break the suite for as long as it takes (docs/trust.md)
#   make package    set up, build, pack: build/measure/sonde_<version>_<machine>.deb
#   make lint       clang-tidy over all sources (package clang-tidy); only what changed since it was clean
#   make fuzz       build with clang, make up input for every reader, SECONDS each (docs/trust.md)
PRESET   := measure
BIN      := build/$(PRESET)/bin
# One folder a revision: rows of another version of the programs are never taken for these.
RUNS     := build/campaign/$(shell git describe --always --dirty 2>/dev/null || echo unversioned)
PACKAGES := $(shell sed -e 's/\#.*//' cmake/packages.txt)
APT      := apt-get install -y --no-install-recommends

.PHONY: campaign test bench score torture fuzz lint portable package packages configure build programs

campaign: programs
	@status=0; \
	$(BIN)/sonde campaign --quick --device host --out $(RUNS)/host > /dev/null || status=$$?; \
	$(BIN)/sonde campaign --quick --device sim:950pr_9579 --out $(RUNS)/950pr_9579 > /dev/null || status=$$?; \
	$(BIN)/sonde report --run $(RUNS)/host --run $(RUNS)/950pr_9579 --out $(RUNS)/report || status=$$?; \
	exit $$status

test: build
	ctest --preset $(PRESET)

bench score torture: configure
	cmake --build --preset $(PRESET) --target $@

lint: configure
	@cmake --build --preset $(PRESET) --target sonde_revision
	cmake -DBUILD=build/$(PRESET) -P cmake/lint.cmake

package: programs
	cd build/$(PRESET) && cpack

# What it finds of new paths is kept in build/fuzz/corpus/, what breaks a reader in build/fuzz/faults/.
SECONDS := 600
fuzz: packages
	@cmake --preset fuzz --log-level=WARNING > /dev/null
	cmake --build --preset fuzz
	@status=0; for name in $(notdir $(wildcard tests/fuzz/corpus/*)); do \
	  mkdir -p build/fuzz/corpus/$$name build/fuzz/faults; \
	  echo "== $$name"; \
	  build/fuzz/fuzz/$$name -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=2048 \
	    -max_len=16384 -verbosity=0 -print_final_stats=1 -artifact_prefix=build/fuzz/faults/$$name- \
	    build/fuzz/corpus/$$name tests/fuzz/corpus/$$name || status=1; \
	done; exit $$status

# Without the host backend, whose oneDNN is large; libraries beyond the C++ runtime travel along.
PORTABLE := build/portable
portable: packages
	cmake -S . -B $(PORTABLE) -G Ninja -DCMAKE_BUILD_TYPE=Release -DSONDE_PRESET=measure \
	  '-DSONDE_BACKENDS=sim;cuda' '-DCMAKE_INSTALL_RPATH=$$ORIGIN/../lib' --log-level=WARNING
	cmake --build $(PORTABLE) --target programs
	rm -rf $(PORTABLE)/sonde
	cmake --install $(PORTABLE) --prefix $(PORTABLE)/sonde --strip > /dev/null
	mkdir -p $(PORTABLE)/sonde/lib
	ldd $(PORTABLE)/sonde/bin/* | awk '$$3 ~ /^\// {print $$3}' | sort -u | \
	  grep -v -E '/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+)\.so' | \
	  xargs -r cp -L -t $(PORTABLE)/sonde/lib

build: configure
	cmake --build --preset $(PRESET)

programs: configure
	cmake --build --preset $(PRESET) --target programs

configure: packages
	@cmake --preset $(PRESET) --log-level=WARNING > /dev/null

# Installs what is missing when root, else says how.
packages:
	@missing=""; for p in $(PACKAGES); do \
	  dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; \
	done; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ]; then \
	    echo "installing:$$missing"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive $(APT) -qq $$missing > /dev/null; \
	  else \
	    echo "packages are missing; run:  sudo $(APT)$$missing"; exit 2; \
	  fi; \
	fi
