"""Ways around a safety check, and steps that destroy: they make things work, and teach nothing."""

from __future__ import annotations

import re

AROUND = re.compile(
    r"--no-verify|--no-gpg-sign|--force\b|--skip\S*|--ignore\S*|--break-system-packages|"
    r"--dangerously\S*|--insecure|--allow\S*|--no-check\S*|--legacy-peer-deps|SKIP=|"
    r"StrictHostKeyChecking|--no-sandbox|\.lock\b|-k\b|\|\| true|"
    r"--accept-\S+|--auto-approve|--cap-lints|--no-immutable|--no-frozen\S*|--no-strict\S*|"
    r"--unsafe\S*|--privileged|--disable-\S+|--bypass\S*|--override\S*|-DskipTests|-lock=false|"
    r"=(?:off|false|no)\b"
)
VARIABLES = re.compile(
    r"skip|bypass|ignore|break_system|no_?verify|insecure|disable|allow|force|consent|danger|unsafe"
    r"|sumdb|strict|legacy|hook|husky|verif|validat|reject_unauth|tls|check|warnings",
    re.IGNORECASE,
)
"""In the name of a variable."""
DESTROYS = re.compile(
    r"\breset\b|\bclean\b.*-\w*f|\bprune\b|\bdrop\b|\brm\b|\bdelete\b|\bdestroy\b|\bpurge\b|\bwipe\b"
    r"|\buninstall\b|\bpush\b.*-f\b|--force|--hard|\bflush\w*\b|\bkill\w*\b|\btruncate\b"
)
SAYS_LESS = re.compile(r"--(?:quiet|silent)\b|-q\b")
