//! The timing model, with small programs.
//!
//! | file | what it shows |
//! |---|---|
//! | `measure` | how a program's cycles are taken |
//! | `figures` | the model beside published figures of POWER9 |
//! | `promises` | every cycle is charged once; stopping, saving and observing change nothing; free causes |
//! | `throughput` | what units there are, by independent operations |
//! | `callers` | a ledger that knows who called |
//! | `lines` | lines that several threads want |
//! | `threads` | several threads of a core, and several cores |

mod callers;
mod figures;
mod lines;
mod measure;
mod promises;
mod threads;
mod throughput;
