#!/usr/bin/env bash
# Makes a base for the world-host image from Debian packages, equivalent to the stock Node image that the
# Dockerfile names, for places that reach no image registry. It needs root and mmdebstrap, and takes Node
# from the project's own node_modules.
#
#   build-base-image.sh          builds it and imports it into Docker
#   build-base-image.sh tar      writes the root file system to standard output
#   build-base-image.sh name     prints the image's name
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

suite=trixie
packages=python3,python3-pytest,nftables,ca-certificates,libstdc++6
node=$(readlink -f node_modules/.bin/node)
recipe=$(sha256sum world-host-image/build-base-image.sh | cut -c1-8)
name="svc-base:$suite-node$("$node" --version | tr -d v)-$recipe"

say() { echo "== $*" >&2; }
fail() { echo "$*" >&2; exit 1; }

write_tar() {
  [ "$(id -u)" = 0 ] || fail 'building a base image needs root'
  command -v mmdebstrap >/dev/null || fail 'building a base image needs mmdebstrap (apt-get install mmdebstrap)'
  say "installing Debian $suite ($packages)"
  mmdebstrap --quiet --variant=minbase --include="$packages" \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook="upload $node /usr/local/bin/node" \
    --customize-hook='chmod 755 "$1/usr/local/bin/node"' \
    "$suite" -
  say 'base image written'
}

case "${1-import}" in
  name) echo "$name" ;;
  tar) write_tar ;;
  import) write_tar | docker import - "$name" ;;
  *) fail "usage: $0 [name|tar|import]" ;;
esac
