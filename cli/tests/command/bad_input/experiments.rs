//! Experiment files.

use super::{EXPERIMENT, assert_files_refused};

#[test]
fn experiment_files() {
    let cases = [
        ("question", "qestion", "bad.toml:2: unknown key `qestion`; did you mean `question`?"),
        (
            "number = 1",
            "number = 2048",
            "bad.toml:6: no such region; the number must be at most 2047",
        ),
        (
            "per = 'hypercall'",
            "per = 'hypercal'",
            "bad.toml:7: nothing counts `hypercal`, and no `divisor` says how many there are; did you mean `hypercall`?",
        ),
        (
            "per = 'hypercall'",
            "per = 'hypercall'\ndivisor = 5",
            "bad.toml:8: what is `per = \"hypercall\"` is counted; leave `divisor` out, or give `per` a word of your own",
        ),
        (
            "per = 'hypercall'",
            "per = 'pair'\ndivisor = 0",
            "bad.toml:8: 0 is out of range; give a number from 1 to 4294967295",
        ),
        (
            "per = 'hypercall'",
            "per = 'a pair'\ndivisor = 5",
            "bad.toml:7: `a pair` cannot be part of a figure's name; use up to 31 letters, digits and `,._+-`, beginning with a letter",
        ),
        (
            "[[variant]]\nname = 'v'\narguments = ''\nexpect = ''\n",
            "",
            "bad.toml:1: no variant; add a [[variant]] table",
        ),
        (
            "expect = ''\n",
            "expect = ''\nset = ['scorebord=1']\n",
            "bad.toml:12: no value is called `scorebord`; did you mean `timing.special.scoreboard`?",
        ),
        (
            "expect = ''\n",
            "expect = ''\npolicy = { prefetch = 'faithful', threads_per_core = 4 }\n",
            "bad.toml:12: with `prefetch = \"faithful\"` one thread of a core runs partitions; write 1, or leave this out",
        ),
        (
            "expect = ''\n",
            "expect = ''\nset = ['scoreboard=newest']\n",
            "bad.toml:12: `scoreboard=newest`: the value is a number",
        ),
        (
            "expect = ''\n",
            "expect = ''\nset = ['scoreboard=-1']\n",
            "bad.toml:12: timing.special.scoreboard = -1 is out of range; it must be 0 at least",
        ),
        (
            "expect = ''\n",
            "expect = ''\n[[variant]]\nname = 'v'\narguments = ''\nexpect = ''\n",
            "bad.toml:12: a second variant is called `v`; give each its own name",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'eager'\narguments = ''\nexpect = ''\nsource = ''\npairs = [['a', 'b']]\n\
             [[steps.step]]\nname = 'a'\nwhat = ''\nwithout = 'amor'\n[[variant]]",
            "bad.toml:13: no step that can be alone is called `b`; did you mean `a`?",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'eager'\narguments = ''\nexpect = ''\nsource = ''\n\
             [[steps.step]]\nname = 'a'\nwhat = ''\n[[variant]]",
            "bad.toml:14: the step `a` changes nothing; give it `without` or `registers`",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'eager'\narguments = ''\nexpect = ''\nsource = ''\n\
             [[steps.step]]\nname = 'a'\nwhat = ''\nwithout = 'amor'\nregisters = 'owned'\n[[variant]]",
            "bad.toml:14: the step `a` has both `without` and `registers`; leave out one",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'wort'\narguments = ''\nexpect = ''\nsource = ''\n\
             [[steps.step]]\nname = 'a'\nwhat = ''\nwithout = 'amor'\n[[variant]]",
            "bad.toml:9: the steps cannot begin with `wort`; they begin with `eager`",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'eager'\narguments = ''\nexpect = ''\nsource = ''\n\
             [[steps.step]]\nname = 'a'\nwhat = ''\nwithout = 'amor'\n\
             [[steps.step]]\nname = 'b'\nwhat = ''\nwithout = 'amor'\n[[variant]]",
            "bad.toml:20: `amor` is left out already; leave out something else",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'eager'\narguments = ''\nexpect = ''\nsource = ''\nstep = []\n[[variant]]",
            "bad.toml:9: there is no step; add a [[steps.step]] table",
        ),
        (
            "name = 'v'",
            "name = '../v'",
            "bad.toml:9: `../v` cannot name a variant; use up to 31 letters, digits and `,._+-`, beginning with a letter",
        ),
        (
            "[[variant]]",
            "[[published]]\nmetric = 'cycles'\nvalue = 1\nwhat = ''\nsource = ''\n[[variant]]",
            "bad.toml:9: no figure is called `cycles`; known: cycles_per_hypercall, instructions_per_hypercall, \
             hypervisor_instructions_per_hypercall, guest_instructions_per_hypercall, spr_reads_per_hypercall, \
             spr_writes_per_hypercall, exits_per_hypercall, translated_exits_per_hypercall, real_exits_per_hypercall, l1_misses_per_hypercall, l2_misses_per_hypercall, l3_misses_per_hypercall, erat_misses_per_hypercall, tlb_misses_per_hypercall, \
             jobs_per_second, copy_bytes_per_second, scale_bytes_per_second, add_bytes_per_second, triad_bytes_per_second, \
             median_ns, minimum_ns, maximum_ns, mean_ns, deviation_ns, jobs_loss_percent, copy_loss_percent, \
             scale_loss_percent, add_loss_percent, triad_loss_percent, loss_percent",
        ),
        (
            "[[variant]]",
            "[[published]]\nmetric = 'exits_per_hypercal'\nvalue = 1\nwhat = ''\nsource = ''\n[[variant]]",
            "bad.toml:9: no figure is called `exits_per_hypercal`; did you mean `exits_per_hypercall`?",
        ),
        (
            "[[variant]]",
            "[[published]]\nmetric = 'exits_per_hypercall'\nvalue = 0\nwhat = ''\nsource = ''\n[[variant]]",
            "bad.toml:10: 0 cannot be compared with; give a number above 0",
        ),
        (
            "[[variant]]",
            "[[reason]]\nvariant = 'w'\nfunctions = ['f']\nwhy = ''\n[[variant]]",
            "bad.toml:9: no variant is called `w`; did you mean `v`?",
        ),
        (
            "[[variant]]",
            "[[reason]]\nvariant = 'v'\nfunctions = []\nwhy = ''\n[[variant]]",
            "bad.toml:10: a reason for no function; name those whose lines it is for",
        ),
        (
            "[[variant]]",
            "[[reason]]\nvariant = 'v'\nfunctions = ['f']\ncause = 'flush.retur'\nwhy = ''\n[[variant]]",
            "bad.toml:11: no cause is called `flush.retur`; did you mean `flush.return`?",
        ),
        (
            "expect = ''\n",
            "expect = ''\n[[variant.partner]]\nname = 'w'\narguments = ''\nexpect = ''\n",
            "bad.toml:13: a partner would begin the region too; give it to an experiment with `per = \"switch\"`, `per = \"event\"`, `per = \"slice\"` or `per = \"job\"`",
        ),
        (
            "'power9'",
            "'power'",
            "bad.toml:3: no machine is called `power`; did you mean `power9`? A description of your own is named by its path, ending in .toml",
        ),
    ];
    assert_files_refused("run", &cases, EXPERIMENT);
}
