"""The system calls that a process in the sandbox may make: an allowlist, compiled by libseccomp."""

import errno
import fcntl
import socket
import termios
from functools import cache
from tempfile import TemporaryFile

# What Python, its library and numerical packages call. execve is bubblewrap's last step; what it could start inside is
# Python again, behind the same barriers. A name that the libseccomp of this machine does not know is passed over.
ALLOWED = """
    read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 open openat creat close close_range lseek
    _llseek stat stat64 fstat fstat64 lstat lstat64 newfstatat fstatat64 statx access faccessat faccessat2 readlink
    readlinkat getdents getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2
    link linkat symlink symlinkat truncate ftruncate fsync fdatasync fallocate flock fadvise64 copy_file_range sendfile
    dup dup2 dup3 pipe pipe2 umask statfs fstatfs
    mmap mmap2 munmap mprotect mremap brk madvise msync mincore membarrier
    futex futex_time64 futex_waitv futex_wait futex_wake set_robust_list get_robust_list set_tid_address rseq gettid
    sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min getcpu
    arch_prctl exit exit_group execve wait4 waitid restart_syscall
    rt_sigaction rt_sigprocmask rt_sigreturn sigreturn sigaltstack rt_sigtimedwait rt_sigsuspend rt_sigpending pause
    alarm setitimer getitimer clock_gettime clock_gettime64 clock_getres clock_nanosleep clock_nanosleep_time64
    nanosleep gettimeofday time times
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2
    recvfrom shutdown getsockopt getsockname getpeername
    getpid getppid getuid geteuid getgid getegid getpgrp getpgid getsid getgroups getresuid getresgid uname sysinfo
    getrusage getrlimit getrandom getpriority
""".split()
ABSENT = ("clone3",)  # its flags are hidden from a filter: as if the kernel had none, so that clone is called
LAST_NUMBER = 1023  # of system calls, for years to come
CLONE_THREAD, NEW_NAMESPACES = 0x00010000, 0x7E020080
PR_SET_NAME, PR_GET_NAME, PR_SET_VMA = 15, 16, 0x53564D41
# commands of fcntl; none that has signals sent (F_SETOWN, F_SETSIG, F_NOTIFY, F_SETLEASE) or grows a pipe
FCNTL = (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_OFD_GETLK, fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW, fcntl.F_GETFD,
         fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_GETLK, fcntl.F_SETLK, fcntl.F_SETLKW)  # fmt: skip
IOCTL = (termios.TCGETS, termios.TIOCGWINSZ, termios.FIONREAD, termios.FIONBIO, termios.FIOCLEX, termios.FIONCLEX)


@cache
def filter_program() -> bytes:
    """Return the filter for this machine, as bubblewrap takes it. Raises ImportError, RuntimeError without libseccomp.

    A call that is not allowed gives EPERM, one that libseccomp does not know ENOSYS: then libraries do without it.
    """
    import pyseccomp as seccomp

    native, equal, masked = seccomp.Arch.NATIVE, seccomp.EQ, seccomp.MASKED_EQ
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    conditions = [
        # a thread of this process, in the namespaces that it has
        ("clone", seccomp.Arg(0, masked, CLONE_THREAD | NEW_NAMESPACES, CLONE_THREAD)),
        ("socketpair", seccomp.Arg(0, equal, socket.AF_UNIX)),
        ("sendto", seccomp.Arg(4, equal, 0)),  # to the other end of a pair alone
        ("prlimit64", seccomp.Arg(0, equal, 0)),
        *(("prctl", seccomp.Arg(0, equal, option)) for option in (PR_SET_NAME, PR_GET_NAME, PR_SET_VMA)),
        *(("ioctl", seccomp.Arg(1, equal, request)) for request in IOCTL),
        *(("fcntl", seccomp.Arg(1, equal, command)) for command in FCNTL),
        ("fcntl", seccomp.Arg(1, equal, fcntl.F_SETFL), seccomp.Arg(2, masked, fcntl.FASYNC, 0)),
        *((name,) for name in ALLOWED),
    ]
    for name, *arguments in conditions:
        if (number := seccomp.resolve_syscall(native, name)) >= 0:
            rules.add_rule(seccomp.ALLOW, number, *arguments)
    for number in range(LAST_NUMBER + 1):
        try:
            is_absent = seccomp.resolve_syscall(native, number).decode() in ABSENT
        except ValueError:  # no call has this number
            is_absent = True
        if is_absent:
            rules.add_rule(seccomp.ERRNO(errno.ENOSYS), number)
    with TemporaryFile() as program:
        rules.export_bpf(program)
        program.seek(0)
        return program.read()
