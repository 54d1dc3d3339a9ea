"""How many files and connections a process may have open."""

import resource

ENOUGH = 4096  # Streamlit keeps three descriptors of each of up to 128 closed tabs for two minutes; macOS allows 256


def allow_open_files() -> None:
    """Raise the limit of open files of this process, and of those that it starts, to ENOUGH where that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
