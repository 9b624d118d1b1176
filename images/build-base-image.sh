#!/usr/bin/env bash
# Makes a base for our images from Debian packages, equivalent to the stock Node image that their
# Dockerfiles name, for places that reach no image registry. It needs root and mmdebstrap, and takes Node
# from the project's own node_modules.
#
#   build-base-image.sh import <base>   builds it and imports it into Docker
#   build-base-image.sh tar <base>      writes the root file system to standard output
#   build-base-image.sh name <base>     prints the image's name
#
# The base is "host", on which all images are built but one, or "browser", which has Chromium and its fonts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

suite=trixie
left_out=()
node=$(readlink -f node_modules/.bin/node)
action=${1-import}
base=${2-host}

say() { echo "== $*" >&2; }
fail() { echo "$*" >&2; exit 1; }

case "$base" in
  host)
    image=svc-base
    packages=python3,python3-pytest,nftables,ca-certificates,libstdc++6 ;;
  browser)
    image=svc-browser-base
    # The fonts of most scripts: a page without them shows boxes.
    packages=chromium,nftables,ca-certificates,libstdc++6
    packages+=,fonts-liberation,fonts-noto-core,fonts-noto-cjk,fonts-noto-color-emoji
    # Drivers of graphics cards and what they are made with, a fifth of the image: nothing here loads them.
    left_out=('*/libLLVM*' '*/libgallium*' '*/libz3.*' 'chromium/libVkLayer_*') ;;
  *) fail "no base is called \"$base\": host, browser" ;;
esac
recipe=$(sha256sum images/build-base-image.sh | cut -c1-8)
name="$image:$suite-node$("$node" --version | tr -d v)-$recipe"

write_tar() {
  [ "$(id -u)" = 0 ] || fail 'building a base image needs root'
  command -v mmdebstrap >/dev/null || fail 'building a base image needs mmdebstrap (apt-get install mmdebstrap)'
  say "installing Debian $suite ($packages)"
  local exclusions=()
  for files in "${left_out[@]}"; do exclusions+=("--dpkgopt=path-exclude=/usr/lib/$files"); done
  mmdebstrap --quiet --variant=minbase --include="$packages" \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    "${exclusions[@]}" \
    --customize-hook="upload $node /usr/local/bin/node" \
    --customize-hook='chmod 755 "$1/usr/local/bin/node"' \
    "$suite" -
  say 'base image written'
}

case "$action" in
  name) echo "$name" ;;
  tar) write_tar ;;
  import) write_tar | docker import - "$name" ;;
  *) fail "usage: $0 [name|tar|import] [host|browser]" ;;
esac
