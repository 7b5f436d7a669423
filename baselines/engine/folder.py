"""Where caches live when nothing else is said, and what a cache file stands on."""

from __future__ import annotations

import os
from pathlib import Path

APPLICATION = "blind-audits"
# File systems on which SQLite's write-ahead log is unsafe: its index is memory shared by one machine only.
NETWORK = frozenset({"9p", "afs", "beegfs", "ceph", "cifs", "gpfs", "lustre", "nfs", "nfs4", "smb3", "smbfs"})


def cache_folder() -> Path:
    """Return the folder for caches: `$XDG_CACHE_HOME/blind-audits`, else `~/.cache/blind-audits`; not created."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / APPLICATION


def on_network(path: Path, mounts: Path = Path("/proc/mounts")) -> bool:
    """Return whether a path stands on a network file system, as far as this system's mount table says.

    Args:
        path: An existing path.
        mounts: Mount table: device, mount point, type, ... by line. Where there is none, the answer is no.
    """
    try:
        lines = mounts.read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    target = path.resolve()
    best, found = -1, ""
    for line in lines:
        fields = line.split()
        if len(fields) < 3:
            continue
        point = Path(fields[1].replace("\\040", " "))
        # The later of two mounts on one point hides the earlier one, hence >=.
        if target.is_relative_to(point) and len(point.parts) >= best:
            best, found = len(point.parts), fields[2]
    return found in NETWORK or found.startswith("fuse.sshfs")
