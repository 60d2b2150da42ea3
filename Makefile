# The commands of the README. Everything else is CMake (see CONTRIBUTING.md).
#   make campaign   set up, build, measure this CPU and the simulated Ascend, print the page's path
#   make test       set up, build, run every test
#   make bench      set up, build, time the suite against bare loops (docs/bench.md)
#   make score      set up, build, prove how often the analyses are right (data/score/)
PRESET   := measure
BIN      := build/$(PRESET)/bin
# One folder a revision: rows of another version of the programs are never taken for these.
RUNS     := build/campaign/$(shell git describe --always --dirty 2>/dev/null || echo unversioned)
PACKAGES := $(shell sed -e 's/\#.*//' cmake/packages.txt)
APT      := apt-get install -y --no-install-recommends

.PHONY: campaign test bench score packages configure build programs

campaign: programs
	@status=0; \
	$(BIN)/sonde campaign --quick --device host --out $(RUNS)/host > /dev/null || status=$$?; \
	$(BIN)/sonde campaign --quick --device sim:950pr_9579 --out $(RUNS)/950pr_9579 > /dev/null || status=$$?; \
	$(BIN)/sonde report --run $(RUNS)/host --run $(RUNS)/950pr_9579 --out $(RUNS)/report || status=$$?; \
	exit $$status

test: build
	ctest --preset $(PRESET)

bench score: configure
	cmake --build --preset $(PRESET) --target $@

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
