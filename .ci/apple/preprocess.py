#!/usr/bin/env python3
"""Copies Swift sources with their `#if` resolved as on one of Apple's platforms, and Foundation renamed.

usage: preprocess.py PLATFORM SRC DST      (PLATFORM: macOS iOS tvOS watchOS visionOS)
Blanked lines are kept, so that line numbers stay those of the sources.
"""
import os, re, sys

platform, src, dst = sys.argv[1:4]
MODULES = {"CoreData", "CryptoKit", "Darwin", "Dispatch", "Foundation", "ObjectiveC", "Security", "Synchronization", "Testing"}
MODULES |= {"AuthenticationServices", "os"}
MODULES |= {"CRequestBehaviorsCurl"} if platform == "macOS" else {"UIKit"}
if platform == "watchOS":
    MODULES |= {"WatchKit"}

# Glibc's own names would be ambiguous with the stub's; the stub has Darwin's types under these, with D_ before them.
DARWIN_NAMES = "|".join([
    "SOCK_STREAM", "SHUT_RD", "SHUT_WR", "SHUT_RDWR", "IPPROTO_TCP", "nfds_t", "sockaddr_in", "sockaddr_in6", "sa_family_t", "timeval",
    "poll", r"posix_spawn\w*", "RTLD_DEFAULT",
])

def value(condition):
    text = re.sub(r"canImport\((\w+)\)", lambda m: str(m[1] in MODULES), condition)
    text = re.sub(r"os\((\w+)\)", lambda m: str(m[1] == platform), text)
    text = re.sub(r"targetEnvironment\(\w+\)", "False", text)
    text = re.sub(r"\bDEBUG\b", "True", text)
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    if not re.fullmatch(r"[\s()]*((True|False|not|and|or)[\s()]*)+", text):
        raise SystemExit(f"cannot decide '#if {condition}'")
    return eval(text)

def resolve(lines):
    out, stack = [], []  # stack of [active now, some branch was taken]
    for line in lines:
        m = re.match(r"\s*#(if|elseif|else|endif)\b(.*)", line)
        if m:
            word, condition = m[1], m[2].split("//")[0].strip()
            if word == "if":
                taken = value(condition); stack.append([taken, taken])
            elif word == "elseif":
                taken = not stack[-1][1] and value(condition)
                stack[-1] = [taken, stack[-1][1] or taken]
            elif word == "else":
                stack[-1] = [not stack[-1][1], True]
            else:
                stack.pop()
            out.append("\n")
            continue
        out.append(line if all(active for active, _ in stack) else "\n")
    return out

for folder, _, names in os.walk(src):
    for name in names:
        if not name.endswith(".swift"):
            continue
        path = os.path.join(folder, name)
        target = os.path.join(dst, os.path.relpath(path, src))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        text = "".join(resolve(open(path, encoding="utf-8").readlines()))
        access = r"(?m)^(\s*(?:@\w+ |public |package |internal |private )*import )"
        text = re.sub(access + r"Foundation\b", r"\1AppleFoundation", text)
        text = re.sub(r"\bFoundation\.(kill|exit|write|read|open|close)\b", r"Darwin.\1", text)
        if any(name in path for name in ("LoopbackSocket", "LoopbackSystem", "RawClient", "ChildProcess")):
            text = re.sub(rf"(?<![\w.])({DARWIN_NAMES})\b(?!`)", r"D_\1", text)
        text = re.sub(r"func D_poll|Loopback(?:Socket|System)\.D_poll", lambda m: m[0].replace("D_", ""), text)
        open(target, "w", encoding="utf-8").write(text)
