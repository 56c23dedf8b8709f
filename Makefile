# Two commands to start with: `make demo` runs the main job, `make test` the tests.
GO ?= go
REPO ?= .

.PHONY: build test demo bench gold interop fmt
build:
	$(GO) build -o bin/exhibit ./cmd/exhibit

test:
	$(GO) test -timeout 10m ./...

demo: build
	bash .ci/demo bin/exhibit "$(REPO)"

# CPU seconds and peak memory of whole processes, and their ratios in one run.
bench:
	EXHIBIT_BENCH=1 $(GO) test -count=1 -timeout 60m -v -run '^TestBench' ./cmd/exhibit

# Accuracy against compilers: GOLD_REPOS names the folder with the checkouts,
# GOLD the folder with the gold and its scorer.
gold: build
	bash .ci/gold bin/exhibit

# Unrelated tools verify our grants: openssl and npm packages.
interop: build
	EXHIBIT_INTEROP=1 $(GO) test -count=1 -v -run '^TestInterop' ./verify/...

fmt:
	gofmt -w $$(git ls-files '*.go')
