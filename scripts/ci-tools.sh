#!/usr/bin/env bash
# Installs what some trials need and a machine may lack, those of `npm test` included. Only for CI and for people who want
# every row of the fault matrix: the tests install nothing, and skip with a line what they do not find. The full disk also
# needs root, for a small file system.
set -euo pipefail

if ! command -v apt-get >/dev/null; then
  echo "No apt-get here: install libfaketime, pgbouncer, prlimit and script (util-linux), zsh and fish by hand." >&2
  exit 1
fi
apt-get update
apt-get install --yes --no-install-recommends libfaketime pgbouncer util-linux zsh fish
# The package starts a service of its own; the tests start theirs.
if command -v systemctl >/dev/null; then systemctl disable --now pgbouncer || true; fi
