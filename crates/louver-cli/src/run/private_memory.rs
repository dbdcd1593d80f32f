//! Nobody looks into the memory that keys pass through.

/// Nobody but the system's administrator sees the memory or the environment: no core is written, no debugger attaches.
pub(super) fn keep_memory_private() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Where the kernel cannot, nothing is worse than before.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
