#!/bin/sh
# Debian packages. `compiler` as an argument: only the C compiler that an installation from source needs, if there is none.
# By default what some tests use: ffmpeg and ffprobe as oracles, chromium for the pages, PostgreSQL as a server.
# Installed only where that is possible (apt and root); otherwise the suites that need them are skipped and say so.
missing=""
without="the tests that need them are skipped"
if [ "${1:-}" = compiler ]; then
  without="installing Rushes from source needs a C compiler (docs/installation.md)"
  [ -n "${CC:-}" ] || command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || missing="gcc libc6-dev"
else
  command -v ffprobe >/dev/null || missing="$missing ffmpeg fonts-dejavu-core"
  command -v chromium >/dev/null || missing="$missing chromium fonts-dejavu-core"
  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
fi
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing $missing"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -q && apt-get install -y -q --no-install-recommends $missing; } >/tmp/rushes-apt.log 2>&1 \
    || echo "could not install $missing (see /tmp/rushes-apt.log); $without"
else
  echo "not installed: $missing; $without"
fi
