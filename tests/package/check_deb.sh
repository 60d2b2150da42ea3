#!/bin/sh
# Installs a Debian package of the suite into a bare Debian 12, runs it as root and as a user, and
# takes it away again. Needs root, debootstrap and a package mirror; not part of `make test`.
#   tests/package/check_deb.sh PACKAGE.deb [ROOT]
# ROOT: a folder to use (made by debootstrap when it is not there) and to keep; default: a scratch
# folder. MIRROR chooses the mirror.
set -eu

package=$1
root=${2:-}
mirror=${MIRROR:-http://deb.debian.org/debian}
scratch=""
if [ -z "$root" ]; then
  scratch=$(mktemp -d)
  root=$scratch/root
fi

leave() {
  status=$?
  umount "$root/proc" 2> /dev/null || true
  [ -z "$scratch" ] || rm -rf "$scratch"
  [ $status = 0 ] || echo "check_deb: FAILED" >&2
  exit $status
}
trap leave EXIT
fail() {
  echo "check_deb: $*" >&2
  exit 1
}

[ -d "$root/usr" ] ||
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root" "$mirror" > /dev/null ||
  fail "debootstrap cannot reach $mirror"
# What this machine's own apt needs to reach its mirror.
for part in apt.conf.d sources.list.d; do
  find "/etc/apt/$part" -maxdepth 1 -type f ! -name 'docker*' -exec cp {} "$root/etc/apt/$part/" \;
done
cp /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc"
cp "$package" "$root/tmp/sonde.deb"

inside() {
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}
inside apt-get update -qq
# dpkg -i says what is missing; apt installs it.
inside dpkg -i /tmp/sonde.deb > /dev/null 2>&1 || inside apt-get install -f -y -qq > /dev/null
inside dpkg-query -W -f '${Status}\n' sonde | grep -q '^install ok installed$' ||
  fail "the package is not installed"
inside apt-get install -y -qq man-db > /dev/null
inside id -u tester > /dev/null 2>&1 || inside useradd --create-home tester

use='set -e
cd "$(mktemp -d)"
sonde --version
sonde devices > devices
grep -q "^host " devices
sonde doctor > doctor || { cat doctor; exit 1; }
sonde campaign --quick --quiet --device sim:950pr_9579 --out run > out
test -s run/report/index.html
test -s run/report/copy_time.svg
test -s run/report/copy_time.png
sonde report --run run --format pdf --size 85x60mm > /dev/null
test -s run/report/copy_time.pdf
sonde compare run run > /dev/null
command -v man > /dev/null && { man -w sonde; man -w sonde-chase; } > /dev/null
echo "runs as $(id -un)"'
inside /bin/bash -c "$use"
inside su tester -c "$use"

inside dpkg -L sonde > "$root/tmp/files"
inside apt-get purge -y -qq sonde > /dev/null
while read -r path; do
  [ -e "$root$path" ] || continue
  inside dpkg -S "$path" > /dev/null 2>&1 || fail "$path stays after the package is gone"
done < "$root/tmp/files"
[ -z "$(inside find / -xdev -path /proc -prune -o -path /tmp -prune -o -path /home -prune -o \
  -name '*sonde*' -print | head -5)" ] || fail "files named sonde stay"
rm -rf "$root/tmp/"*
echo "check_deb: installed, ran as root and as a user, left nothing"
