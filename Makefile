# loomc: build, run, test.
#
#   make run    install what is missing where that is possible, build loomc,
#               link the bundled corpus at HEAD, build it for gfx1151
#   make test   everything that must pass: vet, gofmt, staticcheck, unit, golden,
#               testscript and differential tests, the race detector
#   make bench  benchmarks
#   make table  every kernel for one target of each family: time to emit, workgroup
#               memory, instructions, registers; TREE=DIR for kernels of your own
#   make sim    the bundled tests on gfx1151 code objects, on the CPU, where the
#               emulator is at hand (GFXEMU names its folder)
#   make fuzz   every fuzz target for FUZZTIME (default 1m) each

GO         ?= go
ARCH       ?= gfx1151
OUT        ?= build/$(ARCH)
FUZZTIME   ?= 1m
TREE       ?= corpus/kernels
# git refuses repositories of other users; the revision is decoration, so its
# absence must not fail the build.
REVISION   := $(shell [ -z "$$(git rev-parse --show-prefix 2>/dev/null)" ] && git rev-parse --short=12 HEAD 2>/dev/null)
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Packages that start goroutines of their own.
CONCURRENT  = ./corpus/... ./linker/... ./hip/... ./loom/exec/...

.PHONY: all run test build static tools vet fmt-check lint unit race sim bench table fuzz generate clean

all: build

build:
	$(GO) build -trimpath -buildvcs=false -ldflags "-X main.revision=$(REVISION)" -o bin/loomc ./cmd/loomc

# A fully static loomc: everything but loading device libraries.
static:
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -tags loomc_static -ldflags "-X main.revision=$(REVISION)" -o bin/loomc-static ./cmd/loomc

tools:
	@sh tools/install.sh

run: tools build
	@sh tools/demo.sh bin/loomc $(ARCH) $(OUT)

test: tools vet fmt-check lint unit race sim

vet:
	$(GO) vet ./...

fmt-check:
	@bad=$$(gofmt -l $$($(GO) list -f '{{.Dir}}' ./...)); if [ -n "$$bad" ]; then echo "not gofmt-clean:"; echo "$$bad"; exit 1; fi

lint:
	$(STATICCHECK) ./...

unit:
	$(GO) test ./...

race:
	$(GO) test -race -short $(CONCURRENT)

sim: build
	@sh tools/sim.sh bin/loomc

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# A manifest is not needed: config takes the allowed values nearest to 1024.
table:
	@LOOMC_TEST_TREE=$(abspath $(TREE)) $(GO) test ./codegen -count=1 -v -run TestEmitTree | sed -n 's/^ *tree_test.go:[0-9]*: //p; /^FAIL/p'

fuzz:
	@sh tools/fuzz.sh $(FUZZTIME)

generate:
	$(GO) generate ./...

clean:
	rm -rf bin build
