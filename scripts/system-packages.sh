#!/bin/sh
# Debian packages that some tests use: ffmpeg and ffprobe as oracles, chromium for the pages, PostgreSQL as a server.
# Installed only where that is possible (apt and root); otherwise the suites that need them are skipped and say so.
missing=""
command -v ffprobe >/dev/null || missing="$missing ffmpeg"
command -v chromium >/dev/null || missing="$missing chromium"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing$missing"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -q && apt-get install -y -q --no-install-recommends $missing fonts-dejavu-core; } >/tmp/rushes-apt.log 2>&1 \
    || echo "could not install$missing (see /tmp/rushes-apt.log); the tests that need them are skipped"
else
  echo "not installed:$missing; the tests that need them are skipped"
fi
