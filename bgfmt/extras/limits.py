"""Limits that the system sets to a process."""

from __future__ import annotations

import contextlib


def allow_files(number: int) -> int:
    """Raise the limit of open files of this process to `number`, if permitted; return the limit then in force."""
    try:
        import resource
    except ImportError:
        return number
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < number:
        more = number if hard == resource.RLIM_INFINITY else min(number, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return number if soft == resource.RLIM_INFINITY else soft
