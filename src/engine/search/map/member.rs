//! A plan of the family, compiled once for all cells: what it needs is known without running it, and how long it takes at least from
//! one run with room for everything.

use crate::engine::chain::Chain;
use crate::engine::evaluate::step_time;
use crate::engine::hardware::Hardware;
use crate::engine::names::names;
use crate::engine::plan::Plan;
use crate::engine::policy::Policy;
use crate::engine::program::Program;
use crate::engine::simulate;
use crate::engine::units::{Bytes, Nanos};

names! {
    /// What a plan does with the bytes that keep-everything holds after forward.
    Strategy {
        /// It keeps them all.
        Keep = "keep",
        /// What it does not keep it recomputes, all but a tenth.
        Recompute = "recompute",
        /// What it does not keep it offloads, all but a tenth.
        Offload = "offload",
        /// Some of both.
        Mixture = "mixture",
    }
}

/// The same in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// What keep-everything holds after forward.
    pub all: Bytes,
    /// Of those, what is gone and made again.
    pub recomputed: Bytes,
    /// What has left over the link.
    pub offloaded: Bytes,
}

impl Moved {
    /// Of a program, where keep-everything holds `all`.
    #[must_use]
    pub fn of(program: &Program, all: Bytes) -> Self {
        let offloaded: Bytes = program.offloads.iter().map(|copy| copy.bytes).sum();
        let kept = program.resident_after_forward();
        Self { all, recomputed: all.saturating_sub(kept + offloaded), offloaded }
    }

    /// Its name.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        let tenth = (self.recomputed + self.offloaded).0 / 10;
        match (self.recomputed.0, self.offloaded.0) {
            (0, 0) => Strategy::Keep,
            (_, offloaded) if offloaded <= tenth => Strategy::Recompute,
            (recomputed, _) if recomputed <= tenth => Strategy::Offload,
            _ => Strategy::Mixture,
        }
    }

    /// Recomputed and offloaded as shares of all.
    #[must_use]
    pub fn shares(&self) -> (f64, f64) {
        let share = |part: Bytes| if part.0 == 0 { 0.0 } else { part.as_f64() / self.all.as_f64() };
        (share(self.recomputed), share(self.offloaded))
    }
}

/// One plan.
#[derive(Debug)]
pub struct Member {
    program: Option<Program>,
    prefetch: usize,
    /// What the states and other micro-batches hold beside it.
    fixed: Bytes,
    /// The least limit that it runs in, where the host has room for it.
    pub need: Bytes,
    /// A step of compute alone: no step is shorter, whatever the link and the memory.
    pub floor: Nanos,
    /// What becomes of the bytes.
    pub moved: Moved,
}

impl Member {
    /// Compiles the plan that `policy` means, where keep-everything holds `all` bytes.
    #[must_use]
    pub fn of(policy: &Policy, chain: &Chain, hardware: &Hardware, all: Bytes) -> Self {
        let plan = Plan::of(policy, chain, hardware);
        let program = Program::of(chain, &plan);
        let fixed =
            chain.standing().total() + chain.pipeline.others(program.resident_after_forward());
        let computed = program.ops.len().saturating_sub(1);
        let floor = program.ops[..computed].iter().map(|op| op.duration).sum();
        Self {
            prefetch: plan.prefetch,
            fixed,
            need: fixed + simulate::need(&program),
            floor: step_time(chain, floor),
            moved: Moved::of(&program, all),
            program: Some(program),
        }
    }

    /// Its step within a memory limit; none where it does not run. `hardware` is what one micro-batch has of the host.
    pub fn step(&mut self, chain: &Chain, hardware: &Hardware, limit: Bytes) -> Option<Nanos> {
        if self.fixed > limit {
            return None;
        }
        let (room, program) = (limit - self.fixed, self.program.take()?);
        // Where copies use memory bandwidth a run lengthens operations.
        let kept = hardware.copies_use_hbm.then(|| program.clone());
        match simulate::run(program, self.prefetch, hardware, room) {
            Ok(run) => {
                self.program = Some(kept.unwrap_or(run.program));
                Some(step_time(chain, run.micro_end))
            }
            Err((_, program)) => {
                self.program = Some(program);
                None
            }
        }
    }

    /// Bytes that are not kept: of equally fast plans the one that moves less wins.
    #[must_use]
    pub fn moved_bytes(&self) -> Bytes {
        self.moved.recomputed + self.moved.offloaded
    }
}
