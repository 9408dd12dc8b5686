.PHONY: build test lint house size site wheels release-snapshot mutate closedloop bench profile fuzz golden interop
FUZZTIME ?= 10s
N ?= 60
SEED ?= 1
PKG ?= ./analyze/gate

build: # one static binary
	CGO_ENABLED=0 go build -trimpath -o bin/gaprof ./cmd/gaprof

test: # what README promises; which tests were skipped stands at the end
	@go test -json ./... | go run -C tools ./testlog

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...

house: # limits of files, types and functions; what is over them
	go run -C tools ./typecycles -check

size: # how large the program is, and why: docs/decisions/0006
	go run -C tools ./binsize

mutate: # would the tests of PKG notice a fault? docs/testing.md
	go run -C tools ./mutate -n $(N) -seed $(SEED) $(MUTATE) $(PKG)

closedloop: # faults of the trainer, what whatif predicts without them, and what is measured: docs/whatif.md
	go test ./cmd/gaprof -run TestClosedLoop -closedloop 10 -timeout 60m

bench: # several shapes and sizes; compare runs with benchstat
	go test -run '^$$' -bench . -benchmem ./...

profile: # what the compiler goes by; after changes to what is hot
	go test -pgo=off ./cmd/gaprof -run '^$$' -bench EndToEnd -profile default.pgo

fuzz: # every target for FUZZTIME
	@for file in $$(grep -rl --include='*_test.go' '^func Fuzz' . | sort); do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$file); do \
	    echo "$$(dirname $$file) $$target"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$(dirname $$file) || exit 1; \
	  done; done

golden: # write the expected outputs anew; look at the diff
	go test $$(grep -rl --include='*_test.go' '"update"' . | xargs -n1 dirname | sort -u) -update

interop: # our runs in peers; traces of a current PyTorch with their truth, in interop/out
	@for script in collector/run peers wheel goinstall ci pages site run trainers; do interop/$$script.sh || exit 1; done
	@TORCH_PYTHON=$${VENV:-.venv}/bin/python interop/newcomer.sh

site: # docs/ as a static site with a search, in site/; docs/decisions/0008
	go run -C tools ./site

wheels: # what pip installs, for five platforms: dist/*.whl
	go run -C tools ./dist wheels

release-snapshot: # what a tag releases: wheels, an image, archives, their contents and sums, in dist/
	rm -rf dist && go run -C tools ./dist wheels image archives
