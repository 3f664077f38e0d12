# sites.S: places in the code that `mitigations.rs` changes once, before the first guest runs.

# Where `condition` holds, the instruction behind this becomes a branch to `target`, or does nothing if that is next.
.macro site condition, target
    .pushsection .sites, "a"
    .quad .Lsite\@, \condition, \target
    .popsection
.Lsite\@:
.endm
