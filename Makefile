# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What a person types; CMake builds. `make` leaves the command at build/wengert and the libraries beside it.
#
#   make             build                     make demo         train on real pictures and write report.html
#   make test        everything that must hold make bench        print the figures, or of one TABLE
#   make sanitize    all tests, sanitized      make fuzz         FUZZ_SECONDS a target
#   make conformance the long comparisons      make exports      rewrite src/wengert.exports
#   make test-aarch64  the rooms below and the kernels, cross-built and run under qemu-aarch64
#   make performance rewrite docs/performance*.md         make accuracy     rewrite docs/accuracy.md
#   make bench-peers install NumPy, PyTorch, JAX, ONNX Runtime and IREE under build/peers for the tables beside them
#   make demo-lm     a real language model answers   make chat        and keeps answering
#   make demo-kjv    a model learns to write, from nothing, in two minutes
#   make install     PREFIX, DESTDIR           make clean        remove build/
#
# CFLAGS are respected. WENGERT_OFFLINE=1 forbids installing packages. CMAKE_FLAGS are handed to every configuration.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE_FLAGS ?=

.PHONY: all deps test test-aarch64 demo demo-lm demo-kjv chat bench bench-peers fuzz sanitize conformance exports performance accuracy install clean
.DEFAULT_GOAL := all

# A configured directory configures itself again when something changed.
configure = cmake --preset $(1) $(CMAKE_FLAGS) --log-level=NOTICE >/dev/null
build = cmake --build $(1) --parallel $(JOBS) --target

deps:
	@cmake/dependencies.sh build

all: deps
	@$(call configure,release)
	$(call build,build) product

test:
	@cmake/dependencies.sh test
	@$(call configure,release)
	$(call build,build) all bench_lazy
	@$(call configure,asan)
	$(call build,build/asan) sanitized_tests fuzzers
	tests/run build --sanitized build/asan --fuzz 3 --jobs $(JOBS)

demo: all
	@cmake/dependencies.sh demo
	examples/demo.sh

demo-lm: all
	@examples/demo_lm.sh

demo-kjv: all
	@cmake/dependencies.sh demo-kjv
	@examples/demo_kjv.sh

chat: all
	@examples/demo_lm.sh chat

# All tables of figures, or TABLE="products training" (bench/run.sh says which there are).
bench: all
	$(call build,build) benches
	bench/run.sh build $(TABLE)

# What tables beside peers need.
bench-peers:
	bench/peers/setup.sh build/peers

# Rewrites the page of this machine's vector level, docs/performance-v3.md or -v4.md, from what make bench prints.
performance: all
	$(call build,build) benches
	bench/performance.sh build

# Rewrites docs/accuracy.md.
accuracy:
	@cmake/dependencies.sh test
	@$(call configure,release)
	$(call build,build) accuracy
	bench/accuracy.sh build

# A fuzzer takes --seconds and the directory of its corpus, which it first replays.
fuzz:
	@cmake/dependencies.sh test
	@$(call configure,asan)
	$(call build,build/asan) fuzzers kernel_fuzzers
	@for program in $$(sed -n -e 's/^fuzz //p' -e 's/^kernel_fuzz //p' build/asan/programs.list); do \
	    "$$program" --seconds $(FUZZ_SECONDS) "fuzz/corpus/$${program##*/fuzz_}" || exit 1; done

sanitize:
	@cmake/dependencies.sh test
	@$(call configure,asan)
	$(call build,build/asan) all
	tests/run build/asan --without house --jobs $(JOBS) --timeout 1200
	@$(call configure,tsan)
	$(call build,build/tsan) all
	tests/run build/tsan --without house --jobs $(JOBS) --timeout 1200

# The tests of the oracle and of what computes, with the vectors of another machine. Its loader: where its packages are installed, or the
# cross compiler's.
test-aarch64:
	@cmake/dependencies.sh aarch64
	@cmake/cmocka_aarch64.sh build/aarch64/cmocka
	@$(call configure,aarch64)
	$(call build,build/aarch64) cross_tests
	tests/run build/aarch64 --under "qemu-aarch64 -L $$([ -e /lib/ld-linux-aarch64.so.1 ] && echo / || echo /usr/aarch64-linux-gnu)" \
	    --jobs $(JOBS) --timeout 1200

conformance:
	@cmake/dependencies.sh test
	@$(call configure,release)
	$(call build,build) all
	tests/run build --conformance --jobs $(JOBS)

exports: all
	tests/house/run_exports.py --write

# An installed library is found once the loader's cache knows it; a staged one (DESTDIR) is for whoever installs it then.
install: all
	cmake --install build --prefix "$(PREFIX)"
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

clean:
	rm -rf build
