"""The barriers around this process: limits, files (Landlock), system calls (seccomp), namespaces.

It is a program of the kernel's own small machine (classic BPF), put in force by `prctl`; it cannot be taken off again,
and whatever the process starts inherits it. A call that is denied fails with EPERM, so that code sees PermissionError.

None of them needs root. They are put up once, before the code runs, and cannot be taken down. Linux has all of them
where its kernel is 5.13 or newer; other systems have the limits alone.
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column of DENIED, the kernel's own number
# the numbers of each denied call on x86_64 and aarch64, -1 where there is none
DENIED = {
    # network; `socketpair` stays, which reaches nobody else
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242),
    # other processes, started or reached
    "fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "execveat": (322, 281), "kill": (62, 129),
    "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272), "setsid": (112, 157),
    "setpgid": (109, 154), "process_madvise": (440, 440),
    # memory and queues that outlive the process, or that no limit counts
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # what Landlock does not ask about: owners, modes and times of files, handles, lengths by path, devices
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, -1),
    "lchown": (94, -1), "fchown": (93, 55), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1),
    "futimesat": (261, -1), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "truncate": (76, 45),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "mknod": (133, -1), "mknodat": (259, 33),
    "fanotify_init": (300, 262),
    # the system as a whole, and the barriers themselves
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "bpf": (321, 280), "perf_event_open": (298, 241), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "personality": (135, 92), "vhangup": (153, 58),
    "ioperm": (173, -1), "iopl": (172, -1), "setrlimit": (160, 164), "setpriority": (141, 140),
    "sched_setscheduler": (144, 119), "sched_setaffinity": (203, 122), "ioprio_set": (251, 30),
}  # fmt: skip
NEWEST = 462  # later numbers are unknown to this table and to programs of today: ENOSYS, so that they go without
CLONE, CLONE3 = (56, 220), 435  # clone only for threads; clone3 hides its flags from a filter, so ENOSYS: clone is used
PRLIMIT, PRCTL = (302, 261), (157, 167)  # reading limits stays; prctl must not undo that we die with our parent
CLONE_THREAD, PR_SET_PDEATHSIG = 0x00010000, 1
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
# instructions of the kernel's machine: load a word; jump if equal, at least, has a bit; return
LOAD, EQUAL, LEAST, BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in what the kernel shows of a call; an argument has 8 bytes
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def program(machine: str) -> bytes:
    """Return the filter for a machine (`x86_64`, `aarch64`). Raises KeyError for any other."""
    column, architecture = ARCHITECTURES[machine]
    denied, unknown = ERROR | errno.EPERM, ERROR | errno.ENOSYS
    lines = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (LEAST, 0, 1, NEWEST + 1),
        (RETURN, 0, 0, unknown),  # those of the x32 calls, too
        (EQUAL, 0, 1, CLONE3),
        (RETURN, 0, 0, unknown),
    ]
    for numbers in DENIED.values():
        if numbers[column] >= 0:
            lines += [(EQUAL, 0, 1, numbers[column]), (RETURN, 0, 0, denied)]
    low, high = ARGUMENTS + 8 * 2, ARGUMENTS + 8 * 2 + 4  # the halves of prlimit's new limits, null where it only reads
    lines += [
        (EQUAL, 0, 3, CLONE[column]),
        (LOAD, 0, 0, ARGUMENTS),
        (BITS, 1, 0, CLONE_THREAD),
        (RETURN, 0, 0, denied),
        (LOAD, 0, 0, NUMBER),
        (EQUAL, 0, 3, PRCTL[column]),
        (LOAD, 0, 0, ARGUMENTS),
        (EQUAL, 0, 1, PR_SET_PDEATHSIG),
        (RETURN, 0, 0, denied),
        (LOAD, 0, 0, NUMBER),
        (EQUAL, 0, 5, PRLIMIT[column]),
        (LOAD, 0, 0, low),
        (EQUAL, 0, 2, 0),
        (LOAD, 0, 0, high),
        (EQUAL, 1, 0, 0),
        (RETURN, 0, 0, denied),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def put_in_force() -> None:
    """Filter this process's system calls from now on. Raises OSError or KeyError where that cannot be done."""
    instructions = program(platform.machine())
    library = ctypes.CDLL(None, use_errno=True)
    filtered = _Program(len(instructions) // 8, instructions)
    for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, FILTER, ctypes.byref(filtered), 0, 0)):
        if library.prctl(*arguments):
            raise OSError(ctypes.get_errno(), "prctl")


LIMITS, FILES, CALLS, NAMESPACES = "limits", "files", "system calls", "namespaces"
BARRIERS = {  # what each keeps from the code, in words
    LIMITS: "memory, processor time and size of files are limited",
    FILES: "no file outside its own empty folder can be written, and none read but Python's own (Landlock)",
    CALLS: "no network, no other program or process, no signals (seccomp)",
    NAMESPACES: "a network without interfaces, and a folder in memory of limited size (user namespaces)",
}
REQUIRED = (LIMITS, FILES, CALLS)  # the last one stands behind these: containers often forbid it
MOST_FILES = 250  # in the folder
OPEN_FILES = 64

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWNET = 0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x40000000
NOSUID, NODEV, NOEXEC, RECURSIVE, PRIVATE = 2, 4, 8, 0x4000, 1 << 18  # of mount
CAPSET = {"x86_64": 126, "aarch64": 91}
CREATE_RULESET, ADD_RULE, RESTRICT = 444, 445, 446  # the system calls of Landlock, the same on every machine
READ_FILE, READ_DIR, WRITE_FILE = 1 << 2, 1 << 3, 1 << 1
RIGHTS = (13, 13, 14, 15, 15, 16, 16)  # bits of rights to files that each version of Landlock knows
NETWORK, SCOPES = 3, 3  # TCP from version 4, signals and abstract sockets from version 6


def put_up(folder: Path, limits: Mapping[str, int], parent: int) -> list[str]:
    """Put up every barrier that this machine has, and return their names. The process is in `folder` then.

    limits: `cpu_s` seconds; `memory`, `file_size` and `disk` bytes. parent: the process with which this one ends.
    """
    up = []
    _limit(limits)
    up.append(LIMITS)
    os.chdir(folder)
    if sys.platform != "linux":
        return up
    ways: tuple[tuple[str, Callable[[], None]], ...] = (
        (NAMESPACES, lambda: _own_namespaces(folder, limits["disk"])),
        (FILES, lambda: _only_files(folder)),
        (CALLS, lambda: _filter_calls(parent)),
    )
    for name, barrier in ways:
        with suppress(OSError, KeyError, AttributeError):  # absent from this kernel, or forbidden here
            barrier()
            up.append(name)
    return up


def _limit(limits: Mapping[str, int]) -> None:
    """Limit this process; numbers that are lower already stay."""
    for kind, most in (
        (resource.RLIMIT_CPU, limits["cpu_s"]),
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["file_size"]),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # macOS knows no limit of the address space
            # a second more until the kernel ends what does not heed the signal of the limit of time
            resource.setrlimit(kind, (bound, bound + (kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY)))


def _own_namespaces(folder: Path, size: int) -> None:
    """Give this process a network without interfaces, and a folder in memory that ends with it.

    Raises OSError where users may have no namespaces of their own.
    """
    library = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    _checked(library.unshare(NEWUSER | NEWNS | NEWNET | NEWIPC | NEWUTS))
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    _checked(library.mount(b"none", b"/", None, RECURSIVE | PRIVATE, None))
    options = f"size={size},nr_inodes={MOST_FILES},mode=0700".encode()
    _checked(library.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", NOSUID | NODEV | NOEXEC, options))
    os.chdir(folder)


def _only_files(folder: Path) -> None:
    """Leave this process its folder, and Python's own files to read. Raises OSError without Landlock."""
    library = ctypes.CDLL(None, use_errno=True)
    version = _checked(library.syscall(CREATE_RULESET, None, 0, 1))
    rights = (1 << RIGHTS[min(version, len(RIGHTS)) - 1]) - 1
    asked = [rights, NETWORK if version >= 4 else 0, SCOPES if version >= 6 else 0]
    attribute = struct.pack("=QQQ", *asked)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = _checked(library.syscall(CREATE_RULESET, attribute, len(attribute), 0))
    try:
        own = rights & ~1  # nothing in it can be started as a program
        read = READ_FILE | READ_DIR
        for path, allowed in ((folder, own), *((path, read) for path in _readable()), (Path("/dev/null"), 0)):
            with suppress(FileNotFoundError, PermissionError):
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
                try:
                    of_a_file = READ_FILE | WRITE_FILE if path == Path("/dev/null") else READ_FILE
                    granted = allowed if path.is_dir() else of_a_file
                    rule = struct.pack("=Qi", granted, place)
                    _checked(library.syscall(ADD_RULE, rules, 1, rule, 0))
                finally:
                    os.close(place)
        _checked(library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(library.syscall(RESTRICT, rules, 0))
    finally:
        os.close(rules)


def _readable() -> Iterable[Path]:
    """Return what Python needs to go on importing: its library, installed packages, the system's shared libraries."""
    paths = sysconfig.get_paths()
    base = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix})
    named = {*(one[name] for one in (paths, base) for name in ("stdlib", "platstdlib", "purelib", "platlib"))}
    named |= {f"{sys.base_prefix}/lib", "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"}
    named |= {"/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom"}
    return [Path(name) for name in sorted(named)]


def _filter_calls(parent: int) -> None:
    """Give up every capability, end with the parent from now on, and filter the system calls.

    Raises OSError or KeyError where that cannot be done.
    """
    library = ctypes.CDLL(None, use_errno=True)
    header, none = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _checked(library.syscall(CAPSET[os.uname().machine], header, none))
    _checked(library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    if os.getppid() != parent:  # it has ended before the kernel was asked
        os._exit(1)
    put_in_force()


def _checked(result: int) -> int:
    """Return the result of a call of the C library. Raises OSError where it is negative."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
