//! Walls around a program that is not trusted: which files it sees (Landlock), and that it reaches no network and none
//! of the kernel's odder corners (seccomp). They are raised by the program itself, one step before it becomes the
//! tool, so the supervisor stays outside and out of its reach.

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// What a tool asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// Trusted: what the server's user may, the tool may.
    #[default]
    Off,
    /// Walls where the kernel can raise them.
    Auto,
    /// Walls, or it does not run.
    Require,
}

impl Sandbox {
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "off" => Some(Sandbox::Off),
            "auto" => Some(Sandbox::Auto),
            "require" => Some(Sandbox::Require),
            _ => None,
        }
    }
}

/// What a walled program still reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// Files and folders it may read and run, besides the system's programs.
    pub read: Vec<PathBuf>,
    /// Folders that are its own.
    pub write: Vec<PathBuf>,
    pub network: bool,
}

/// The system's programs and what they cannot do without. No `/proc`: the environment of other processes is there.
pub const SYSTEM: [&str; 17] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/dev/random",
    "/dev/urandom",
];

/// For a program that may use the network: how names become addresses.
const NAMES: [&str; 4] = [
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
];

const OWN: [&str; 2] = ["/dev/null", "/dev/zero"];

/// The oldest Landlock that is enough, and the newest we know.
const NEEDED: ABI = ABI::V1;
const KNOWN: ABI = ABI::V6;

/// What no tool needs: other processes' memory, other namespaces, the kernel itself, and ways around a filter. And what
/// Landlock does not know: owners, rights, attributes and times of files that are only there to be read.
const REFUSED: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_utimensat,
];

/// The older names of some of them, which only this processor still has.
#[cfg(target_arch = "x86_64")]
const REFUSED_TOO: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_iopl,
    libc::SYS_ioperm,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_TOO: &[i64] = &[];

/// Signals to others, where Landlock cannot keep them inside.
const SIGNALS: &[i64] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

/// New namespaces are refused, whichever is asked for.
const NEW_NAMESPACES: [u64; 7] = [
    0x0002_0000,
    0x0200_0000,
    0x0400_0000,
    0x0800_0000,
    0x1000_0000,
    0x2000_0000,
    0x4000_0000,
];

/// The second set of numbers that the same processor has for the same calls, and for some of its own.
#[cfg(target_arch = "x86_64")]
const ALSO_CALLED: i64 = 0x4000_0000;
#[cfg(target_arch = "x86_64")]
const ONLY_THERE: std::ops::Range<i64> = 512..548;

/// The second argument of the program where it is to wall itself in and then become another.
pub const WALL: &str = "wall";

impl Walls {
    /// Raises them around this process and whatever it becomes.
    fn raise(&self) -> io::Result<()> {
        self.hide_files()?;
        self.refuse_calls()
    }

    fn hide_files(&self) -> io::Result<()> {
        let read = AccessFs::from_read(KNOWN);
        let mut seen: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        seen.extend(self.read.iter().cloned());
        if self.network {
            seen.extend(NAMES.iter().map(PathBuf::from));
        }
        let mut own: Vec<PathBuf> = OWN.iter().map(PathBuf::from).collect();
        own.extend(self.write.iter().cloned());
        let raised = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(NEEDED))
            .map_err(io::Error::other)?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(KNOWN))
            .and_then(|rules| rules.scope(Scope::Signal))
            .and_then(|rules| rules.scope(Scope::AbstractUnixSocket))
            .and_then(Ruleset::create)
            // What is not there needs no rule.
            .and_then(|rules| rules.add_rules(path_beneath_rules(seen, read)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(own, AccessFs::from_all(KNOWN))))
            .and_then(|rules| rules.restrict_self())
            .map_err(io::Error::other)?;
        match raised.ruleset {
            RulesetStatus::NotEnforced => Err(io::Error::other("the kernel has no Landlock")),
            _ => Ok(()),
        }
    }

    fn refuse_calls(&self) -> io::Result<()> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        let mut refused = [REFUSED, REFUSED_TOO].concat();
        if !self.network {
            refused.push(libc::SYS_socket);
        }
        if !keeps(Scope::Signal) {
            refused.extend(SIGNALS);
        }
        if !knows(AccessFs::Truncate) {
            refused.push(libc::SYS_truncate);
        }
        rules.extend(refused.into_iter().map(|call| (call, Vec::new())));
        // Of oneself, but of nobody else.
        let others = |argument| SeccompRule::new(vec![is_not(argument, 0)?]);
        for call in [
            libc::SYS_prlimit64,
            libc::SYS_sched_setaffinity,
            libc::SYS_sched_setscheduler,
            libc::SYS_sched_setparam,
            libc::SYS_sched_setattr,
        ] {
            rules.insert(call, vec![others(0).map_err(io::Error::other)?]);
        }
        for (call, process) in [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)] {
            let group = SeccompRule::new(vec![is_not(0, process).map_err(io::Error::other)?]);
            let either = [others(1), group].into_iter().collect::<Result<_, _>>();
            rules.insert(call, either.map_err(io::Error::other)?);
        }
        let mut namespaces = Vec::new();
        for flag in NEW_NAMESPACES {
            let is_set = SeccompCmpOp::MaskedEq(flag);
            let condition = SeccompCondition::new(0, SeccompCmpArgLen::Qword, is_set, flag);
            let rule = condition.and_then(|condition| SeccompRule::new(vec![condition]));
            namespaces.push(rule.map_err(io::Error::other)?);
        }
        rules.insert(libc::SYS_clone, namespaces);
        #[cfg(target_arch = "x86_64")]
        {
            let again: Vec<i64> = rules.keys().map(|call| call | ALSO_CALLED).collect();
            let all = again
                .into_iter()
                .chain(ONLY_THERE.map(|call| call | ALSO_CALLED));
            rules.extend(all.map(|call| (call, Vec::new())));
        }
        filter(rules, libc::EPERM)?;
        // Its flags are where no filter can look; whoever is told that it is not there takes the older one.
        filter(
            BTreeMap::from([(libc::SYS_clone3, Vec::new())]),
            libc::ENOSYS,
        )
    }
}

fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> io::Result<()> {
    let refusal = SeccompAction::Errno(error.unsigned_abs());
    let architecture = std::env::consts::ARCH
        .try_into()
        .map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, architecture);
    let program: BpfProgram = filter
        .and_then(TryInto::try_into)
        .map_err(io::Error::other)?;
    seccompiler::apply_filter(&program).map_err(io::Error::other)
}

/// Whether this kernel's Landlock knows an access.
fn knows(access: AccessFs) -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rules
        .handle_access(access)
        .and_then(Ruleset::create)
        .is_ok()
}

/// Whether this kernel's Landlock keeps something inside.
fn keeps(scope: Scope) -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rules.scope(scope).and_then(Ruleset::create).is_ok()
}

/// What this kernel lacks, in words; nothing is missing where it can raise all walls.
pub fn missing() -> Vec<&'static str> {
    let mut missing = Vec::new();
    if !knows(AccessFs::Execute) {
        missing.push("Landlock, which hides files (kernel 5.13 or later with landlock in its list of security modules)");
    }
    let actions = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail");
    if !actions.is_ok_and(|actions| actions.contains("errno")) {
        missing.push("seccomp filters, which keep programs from the network");
    }
    missing
}

/// What a program is to be before it becomes the tool.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) walls: Option<Walls>,
    /// Whether everything it starts, and what that starts, becomes its child once its own parent is gone.
    pub(crate) reaper: bool,
}

impl Step {
    fn take(&self) -> io::Result<()> {
        if self.reaper {
            rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        }
        match &self.walls {
            Some(walls) => walls
                .raise()
                .map_err(|error| io::Error::other(format!("it cannot be walled in: {error}"))),
            None => Ok(()),
        }
    }
}

/// `arguments` = MARK STEP PROGRAM [ARGUMENT...]: walls itself in and becomes the program.
pub fn run(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let mark = arguments.next()?;
    let step: Step = serde_json::from_str(arguments.next()?.to_str()?).ok()?;
    let program = arguments.next()?;
    let failed = match step.take() {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error,
    };
    let _ = write!(io::stderr(), "{}{failed}", mark.to_string_lossy());
    Some(ExitCode::from(crate::supervise::NOT_STARTED))
}
