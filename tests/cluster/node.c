/* node.c: a node of dqlite that has bloom compiled in: node ID HOST:PORT FOLDER [plain]
**
** dqlite opens its connections itself, so that the extension is given to every one of them by
** sqlite3_auto_extension. With `plain` it is not. Runs until it is killed.
*/
#include <dqlite.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bloom.h"

int main(int count, char **words) {
  dqlite_node *node = NULL;
  int rc;
  if (count != 4 && count != 5) {
    fprintf(stderr, "usage: node ID HOST:PORT FOLDER [plain]\n");
    return 2;
  }
  /* dqlite writes to sockets whose other end may be dead. */
  signal(SIGPIPE, SIG_IGN);
  /* Before the node, which sets SQLite up when it is made. */
  if (count == 4 && sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init) != SQLITE_OK) {
    fprintf(stderr, "node: the extension was not registered\n");
    return 1;
  }
  rc = dqlite_node_create(strtoull(words[1], NULL, 10), words[2], words[3], &node);
  if (rc == 0) rc = dqlite_node_set_bind_address(node, words[2]);
  /* A dead leader is missed after some 15 times this; a busy machine must not look like one. */
  if (rc == 0) rc = dqlite_node_set_network_latency_ms(node, 100);
  if (rc == 0) rc = dqlite_node_start(node);
  if (rc) {
    fprintf(stderr, "node: %s\n", node ? dqlite_node_errmsg(node) : "out of memory");
    return 1;
  }
  for (;;) pause();
}
