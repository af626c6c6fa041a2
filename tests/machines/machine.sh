# shellcheck shell=sh disable=SC2034,SC2154
# What cc and run.sh know of a machine; sourced with its name in $machine. Sets
#   cc       the compiler for it
#   sqlite   the folder of the amalgamation that it has; empty: the system's SQLite and cmocka
#   emulator what runs its programs; empty: this machine runs them
#   tools    the prefix of its binutils
#   more     what its SQLite gets beside the amalgamation
sqlite=build/newest emulator='' tools='' more=''
case $machine in
  # <asm/...> is the same for 32 bits; tests/sql/bytes.sh has the reason why it is not found.
  m32) cc='gcc -m32 -idirafter /usr/include/x86_64-linux-gnu' ;;
  signed-char) cc='gcc -fsigned-char' sqlite='' ;;
  unsigned-char) cc='gcc -funsigned-char' sqlite='' ;;
  musl) cc=musl-gcc ;;
  # clang, since Debian's cross gcc and gcc-multilib cannot be installed together.
  s390x)
    cc='clang --target=s390x-linux-gnu'
    emulator='qemu-s390x -L /usr/s390x-linux-gnu' tools=s390x-linux-gnu-
    ;;
  arm64)
    cc='clang --target=aarch64-linux-gnu'
    emulator='qemu-aarch64 -L /usr/aarch64-linux-gnu' tools=aarch64-linux-gnu-
    ;;
  sqlite-newest) cc=gcc ;;
  sqlite-3.43.0) cc=gcc sqlite=build/$machine ;;
  sqlite-3.34.0)
    cc=gcc sqlite=build/$machine more='-DSQLITE_EXTRA_INIT=more_functions tests/machines/older.c'
     ;;
  *) echo "there is no machine $machine" >&2; exit 2 ;;
esac
home=$PWD/build/machines/$machine
