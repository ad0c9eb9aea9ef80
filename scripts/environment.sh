# Sourced by ./tadoru and ./test, which set $root: makes `.venv` fit a lock file, and does nothing when it already does.
# Whoever wants another Python sets $venv and $pythons after that.
#
# A stamp in `.venv`, written last, holds the folder and the text of the lock file it was made from: a changed lock or a moved
# folder is noticed without starting a process. `.venv.unfinished` tells a set-up that was killed from one that a person made.

venv="$root/.venv"
pythons=(python3 python3.14 python3.13 python3.12 python3.11)

say() { printf 'tadoru: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# ready LOCK: is .venv what LOCK asks for?
ready() {
    [[ -x $venv/bin/python && -f $venv/$1.stamp && "$(<"$venv/$1.stamp")" == "$root"$'\n'"$(<"$root/$1")" ]]
}

stamp() { printf '%s\n%s\n' "$root" "$(<"$root/$1")" >"$venv/$1.stamp"; }

# ensure LOCK: set up unless ready; of several at once, one works and the others wait for it.
ensure() {
    ready "$1" && return
    [[ -w $root ]] || die "cannot write to $root, where ${venv##*/} is to be made."
    find_python
    exec 9>"$venv.lock"
    # flock(2) belongs to the open file, so the lock stays with this shell after Python has ended.
    "$python" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)' || die "cannot lock $venv.lock."
    ready "$1" || set_up "$1"
    exec 9>&-
}

# The first of these that is new enough, as its base interpreter: the venv in use may be the one to be replaced.
find_python() {
    local name
    for name in "${pythons[@]}"; do
        python=$("$name" -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1); print(sys._base_executable)' 2>/dev/null) && return
    done
    die "Python 3.11 or newer is needed and there is none on PATH (looked for python3 and python3.11 to python3.14)."
}

set_up() {
    local began=$SECONDS output
    say "setting up $venv from $1, once: packages are downloaded, which takes a minute or so ..."
    if [[ -e $venv.unfinished ]] || ! runs_311; then rm -rf "$venv"; fi
    : >"$venv.unfinished"
    if ! { command -v uv >/dev/null && output=$(with_uv "$1" 2>&1); } && ! output=$(with_pip "$1" 2>&1); then
        # Both installers download everything before they touch .venv, so what was there still works.
        rm -f "$venv.unfinished"
        "$python" -c 'import ensurepip, venv' 2>/dev/null ||
            die "$python has no venv module; install it (on Debian and Ubuntu: apt install python3-venv) and try again."
        printf '%s\n' "$output" | tail -n 12 >&2
        die "the set-up failed, see above; the next start tries again."
    fi
    # A path file, not an editable install: no build, no network, and worker processes find the package too.
    printf '%s\n' "$root/src" >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tadoru.pth"
    # The development lock holds everything of the other one, in the same versions.
    stamp requirements.lock
    stamp "$1"
    rm -f "$venv.unfinished"
    say "ready after $((SECONDS - began)) s."
}

runs_311() { "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

with_uv() {
    { runs_311 || uv venv --quiet --python "$python" "$venv"; } &&
        uv pip install --no-config --quiet --compile-bytecode --python "$venv/bin/python" --require-hashes -r "$root/$1"
}

with_pip() {
    # A .venv made by uv has no pip in it.
    { "$venv/bin/python" -m pip --version >/dev/null 2>&1 || { rm -rf "$venv" && "$python" -m venv "$venv"; }; } &&
        "$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check --require-hashes -r "$root/$1"
}
