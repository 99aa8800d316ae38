# Sourced by ./dev: installs the distribution packages that starlease is built and tested with, and
# fetches hiredis where the distribution's own is too old. Never starts a service, never removes or
# upgrades what is there.
# shellcheck shell=bash disable=SC1091,SC2016,SC2154

debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg
build_packages=(
  g++ pkg-config ninja-build meson git ca-certificates python3
  libuv1-dev libssl-dev libhiredis-dev libsimdjson-dev libsodium-dev libutf8proc-dev
  libspdlog-dev libfmt-dev libtomlplusplus-dev libcli11-dev libsystemd-dev rapidjson-dev doctest-dev
  valkey-server valkey-tools
)
test_packages=(
  ccache clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev lua-check shellcheck
  libbenchmark-dev python3-pytest python3-jsonschema
  binutils openssl socat procps e2fsprogs iproute2 systemd systemd-container dbus
)

# Debian 12: hiredis 0.14 has no RESP3, Meson 1.0 no C++23, and Valkey is in the backports only.
is_debian_12() {
  local id version
  id=$(. /etc/os-release && echo "${ID:-}")
  version=$(. /etc/os-release && echo "${VERSION_ID:-}")
  [ "$id$version" = debian12 ]
}

# The packages among the arguments that are not installed, one a line.
missing_packages() {
  local package installed
  installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^ii  //p' || true)
  for package in "$@"; do
    if [ "$package" = libhiredis-dev ] && is_debian_12; then continue; fi
    grep -qxF "$package" <<<"$installed" || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; return; fi
  command -v sudo >/dev/null || die "'$1' needs root: run './dev setup' as root, or install sudo"
  sudo "$@"
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@"
}

debian_mirror() {
  apt-get indextargets --format '$(REPO_URI)' \
    'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p
}

add_backports() {
  local mirror
  if apt-get indextargets --format '$(RELEASE)' 'Created-By: Packages' |
    grep -qx bookworm-backports; then return 0; fi
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || die "apt knows no Debian archive: check /etc/apt/sources.list*"
  say "adding bookworm-backports to apt's sources (meson, valkey)"
  echo "deb [signed-by=$debian_keyring] $mirror bookworm-backports main" |
    as_root tee /etc/apt/sources.list.d/starlease-backports.list >/dev/null
  apt_get update >/dev/null
}

# Packages of servers start their service when they are installed. Ours run as children of the tests
# and of `starleased --dev` only, so the start is forbidden for the time of the installation. A
# policy that is there already stays.
forbid_service_starts() {
  policy=/usr/sbin/policy-rc.d
  [ ! -e "$policy" ] || { policy=; return 0; }
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
  as_root chmod 755 "$policy"
  trap allow_service_starts EXIT
}

allow_service_starts() {
  [ -z "${policy:-}" ] || as_root rm -f "$policy"
  policy=
}

# What the package enabled for the next boot is disabled again, if it was we who installed it. By
# its link, since systemctl need not be there.
keep_disabled() {
  case " $* " in *' valkey-server'*) ;; *) return 0 ;; esac
  as_root rm -f /etc/systemd/system/multi-user.target.wants/valkey-server.service
}

install_packages() {
  local todo i
  mapfile -t todo < <(missing_packages "$@")
  if [ ${#todo[@]} = 0 ]; then [ "$quiet" ] || say "packages: all $# are there"; return 0; fi
  say "packages to install: ${todo[*]}"
  stage "apt-get update" apt_get update
  if is_debian_12; then
    add_backports
    # Backports never win by themselves: what comes from there is named.
    for i in "${!todo[@]}"; do
      case ${todo[i]} in valkey-*|meson) todo[i]+=/bookworm-backports ;; esac
    done
  fi
  forbid_service_starts
  stage "apt-get install (${#todo[@]} packages)" \
    apt_get install --no-install-recommends "${todo[@]}"
  allow_service_starts
  keep_disabled "${todo[@]}"
}

# Debian 12 only. Debian 13's archive serves the upstream tarball unchanged (the wrap checks its
# SHA-256), signed by a key that Debian 12 has. apt gets a private state, so nothing of the
# machine's own lists or sources changes. Needs no root.
fetch_hiredis() {
  local cache=$root/lib/third_party/packagecache file=hiredis_1.2.0.orig.tar.gz
  if ! is_debian_12 || [ -s "$cache/$file" ]; then return 0; fi
  stage "fetching the source of hiredis 1.2" fetch_hiredis_source "$cache" "$file"
}

fetch_hiredis_source() {
  local cache=$1 file=$2 mirror scratch private
  mirror=$(debian_mirror)
  if [ -z "$mirror" ]; then
    apt_get update
    mirror=$(debian_mirror)
  fi
  [ -n "$mirror" ] || die "apt knows no Debian archive: check /etc/apt/sources.list*"
  scratch=$(mktemp -d)
  mkdir -p "$cache" "$scratch/lists/partial" "$scratch/cache/archives/partial"
  echo "deb-src [signed-by=$debian_keyring] $mirror trixie main" >"$scratch/sources.list"
  private=(-o "Dir::Etc::SourceList=$scratch/sources.list" -o Dir::Etc::SourceParts=-
           -o "Dir::State::Lists=$scratch/lists" -o "Dir::Cache=$scratch/cache"
           -o APT::Sandbox::User=root)
  apt-get -q "${private[@]}" update &&
    (cd "$scratch" && apt-get -q "${private[@]}" source --download-only hiredis) &&
    mv "$scratch/$file" "$cache/"
  local status=$?
  rm -rf "$scratch"
  return $status
}

# setup build|test [quiet]
setup() {
  quiet=${2:-}
  command -v apt-get >/dev/null ||
    die "setup knows Debian and Ubuntu only; elsewhere install what meson.build names"
  case ${1:-test} in
    build) install_packages "${build_packages[@]}" ;;
    test) install_packages "${build_packages[@]}" "${test_packages[@]}" ;;
    *) die "setup: build or test, not '$1'" ;;
  esac
  fetch_hiredis
}
