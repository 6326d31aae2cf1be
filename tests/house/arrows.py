#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which room may include which.

`python3 arrows.py [ROOT]` reads the #include lines of src/<room> and prints each that the table does not allow. A room is free to
include itself, the public headers of what it may use, and of the system's headers all but those of other people's libraries,
which belong to the rooms that FOREIGN names."""
import pathlib
import re
import sys

# Top to bottom. A room may use every room below it, with the exceptions that follow. A room is added here before its first file.
ORDER = "tools bpl model lazy nn text emit exec plan grad batch compose interp graph base".split()
# Rooms that stand side by side or must not meet: bpl computes through lazy alone, text and emit do not know nn, and the oracle is
# an independent judge of the executor, so it shares nothing with it.
APART = {("bpl", "model"), ("lazy", "nn"), ("nn", "text"), ("nn", "emit"), ("text", "emit"), ("exec", "interp")}
APART |= {("bpl", room) for room in ("nn", "exec", "plan", "grad", "batch", "compose", "interp")}
# Rooms that are written on the public headers alone, to prove that those are enough.
PUBLIC_ONLY = {"nn", "lazy"}
# ... of which these also use the small helpers of base/.
WITH_BASE = {"lazy"}
FOREIGN = {"zlib.h": "tools", "png.h": "tools", "jpeglib.h": "tools", "jansson.h": "tools", "histedit.h": "tools",
           "gmp.h": "bpl", "pcre2.h": "bpl", "utf8proc.h": "bpl model"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def allowed(room, target):
    if room == target:
        return True
    below = ORDER.index(room) < ORDER.index(target)
    return below and (room, target) not in APART and room not in PUBLIC_ONLY


def room_of_public(name):
    """A public header named like a room belongs to it; the others say what everybody may use."""
    stem = pathlib.PurePosixPath(name).stem
    return stem if stem in ORDER else "base"


def complaint(room, quoted, system):
    """Why `room` may not have this include; None when it may."""
    if system:
        name = pathlib.PurePosixPath(system).name
        return f"only {FOREIGN[name]} may use <{system}>" if room not in FOREIGN.get(name, room).split() else None
    if quoted.startswith("wengert/"):
        target = room_of_public(quoted)
        if room in PUBLIC_ONLY or allowed(room, target):
            return None
        return f'{room} stands below {target} and may not include "{quoted}"'
    parts = quoted.split("/")
    if len(parts) == 1:
        return None
    target = parts[0]
    if target not in ORDER:
        return f'"{quoted}" names no room; write "<room>/<file>"'
    if room in WITH_BASE and target == "base":
        return None
    if room in PUBLIC_ONLY and target != room:
        return f'{room} may include "wengert/..." and its own files, not "{quoted}"'
    return None if allowed(room, target) else f'{room} may not include "{quoted}"'


def read(root):
    """Answers the number of includes read, and the complaints as `place: text`."""
    count, complaints = 0, []
    for path in sorted(pathlib.Path(root, "src").rglob("*.[chdi]*")):
        if not path.is_file():
            continue
        place = path.relative_to(root)
        room = place.parts[1]
        if room not in ORDER:
            complaints.append(f"{place}: `{room}` is no room; add it to the table in tests/house/arrows.py")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                count += 1
                text = complaint(room, match[1], match[2])
                if text:
                    complaints.append(f"{place}:{number}: {text}")
    return count, complaints


def main():
    count, complaints = read(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    for text in complaints:
        print(text)
    print(f"{count - len(complaints)} passed, {len(complaints)} failed")
    return 1 if complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
