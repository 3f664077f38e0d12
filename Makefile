# What a person can do here. Each target is one line over `cargo xtask`, and each sets up what it needs.
.PHONY: help build dist run test check differential bench fuzz loom sanitize nightly clean

help:     ## show this list
	@sed -n 's/^\([a-z]*\): *## /  make \1\t/p' Makefile
build:    ## the hypervisor, its payloads and the powervisor command
	@cargo xtask build
dist:     ## the powervisor command as fast as this toolchain can make it, into target/dist
	@cargo xtask dist
run:      ## what a hypercall costs, on our machine; then the same on QEMU, compared
	@cargo xtask run
test:     ## everything that must hold before a push
	@cargo xtask test
check:    ## format, lints, the walls between the crates, citations
	@cargo xtask check
differential: ## random instructions on the simulator and on QEMU, compared
	@cargo xtask differential
bench:    ## how fast our machine and QEMU run the same image, what timing mode and looking cost, where time goes
	@cargo xtask bench
fuzz:     ## a partition that does anything at all, on the host and on our machine, for ten minutes
	@cargo xtask fuzz
loom:     ## what hardware threads hand over to each other, in every order of their steps
	@cargo xtask loom
sanitize: ## the hypervisor's portable parts under AddressSanitizer, and Miri if it is there
	@cargo xtask sanitize
nightly:  ## all tests with many more random cases, sanitizers, fuzzing, mutants; a summary
	@cargo xtask nightly
clean:    ## remove everything that was built
	@cargo clean
