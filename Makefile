# Table of contents: each target runs one `cargo xtask` command, which sets up what it needs.
.PHONY: help build dist run test check differential bench fuzz loom sanitize nightly clean

help:     ## print this list
	@sed -n 's/^\([a-z]*\): *## /  make \1\t/p' Makefile
build:    ## build the hypervisor, its payloads and the powervisor command
	@cargo xtask build
dist:     ## build the powervisor command as fast as this toolchain can, into target/dist
	@cargo xtask dist
run:      ## measure a hypercall on our machine, then run the same image on QEMU and compare
	@cargo xtask run
test:     ## run all checks and all tests, as continuous integration does
	@cargo xtask test
check:    ## check format, lints, who imports whom, unsafe code, tables against the code, citations and joined files
	@cargo xtask check
differential: ## run random instructions on the simulator and on QEMU, and compare
	@cargo xtask differential
bench:    ## measure how fast our machine and QEMU run the same image, and what timing mode and observers cost; profile
	@cargo xtask bench
fuzz:     ## Fuzz: run random partitions for ten minutes, on the host and on our machine
	@cargo xtask fuzz
loom:     ## Loom: run hand-overs between hardware threads in all interleavings
	@cargo xtask loom
sanitize: ## run the hypervisor's portable parts under AddressSanitizer, and under Miri if it is installed
	@cargo xtask sanitize
nightly:  ## run all tests with many more random cases, sanitizers, fuzzing and mutants, and print a summary
	@cargo xtask nightly
clean:    ## remove what was built
	@cargo clean
