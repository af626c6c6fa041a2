#!/bin/sh
# Packs files, without their folders, into a folder of the tarball's name: pack.sh TARBALL FILE ...
set -eu
tarball=$1
shift
name=$(basename "$tarball" .tar.gz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
cp "$@" "$work/$name"
tar czf "$tarball" -C "$work" --owner=0 --group=0 --sort=name "$name"
