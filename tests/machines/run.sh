#!/bin/sh
# run.sh short|long MACHINE: builds a machine (build.sh), the extension and its tests for it, and
# runs them there; prints TAP. README.md has the list, suite.mk says what is run. From the
# project's root.
form=$1 machine=$2
. tests/machines/machine.sh
tests/machines/build.sh "$machine" || exit
case $machine in
  sqlite-*) goal=version-$form ;;
  *) goal=machine-$form ;;
esac
here=${B:-build}
# Not the jobs, variables and targets of a make that runs this.
unset MAKEFLAGS MAKELEVEL MFLAGS
PATH=$home/bin:$PATH exec make -s B="build/machines/$machine" CC="tests/machines/cc $machine" \
  CFLAGS="-O2 -g" MACHINE="$machine" HERE="$here" "$goal"
