/* follow: tables with of=. Every key of the source is found whenever the table answers; an error
** that it is no longer in step is right only where a trigger was dropped. */
#include "oom.h"

#define SOURCE \
  "CREATE TABLE src(id INTEGER PRIMARY KEY, email, other);" \
  "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 50) " \
  "INSERT INTO src SELECT i, 'Name' || i || '@Example.org', i FROM c;"
#define OF "of='src(lower(email))', p=0.001"
#define PLAIN SOURCE "CREATE VIRTUAL TABLE mail USING bloom(" OF ");"
#define COUNTING SOURCE "CREATE VIRTUAL TABLE mail USING bloom(" OF ", kind=counting, n=2000);"
#define WARM "SELECT bloom_lookup('mail', 1)"

/* "name of the table|of the source|of the column|", each empty when it is gone. */
static bool read_names(sqlite3 *db, char mail[40], char source[40], char column[40]) {
  const char *names =
      ask(db,
          "SELECT ifnull((SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%%'), '-'), "
          "ifnull((SELECT name FROM sqlite_master WHERE name IN ('src', 'people')), '-'), "
          "ifnull((SELECT c.name FROM sqlite_master AS s, pragma_table_info(s.name) AS c "
          "WHERE s.name IN ('src', 'people') AND c.cid = 1), '-')");
  return sscanf(names, "%39[^|]|%39[^|]|%39[^|]|", mail, source, column) == 3;
}

static const char *check_step(sqlite3 *db, const char *mail, const char *source, const char *column,
                              bool detached) {
  const char *answer = ask(db, "SELECT bloom_lookup(%Q, 'absent')", mail);
  if (strstr(answer, "no longer kept in step")) {
    if (detached || source[0] == '-') return NULL;
    return answer;
  }
  if (source[0] == '-') return answer; /* the source is gone: it must not answer */
  answer = ask(db,
               "SELECT ifnull(sum(NOT bloom_lookup(%Q, lower(\"%w\"))), 0), "
               "ifnull(sum(NOT EXISTS (SELECT 1 FROM \"%w\" AS t WHERE t.key = lower(s.\"%w\"))), "
               "0) FROM \"%w\" AS s",
               mail, column, mail, column, source);
  if (strcmp(answer, "0|0|") != 0) return answer;
  /* 200 absent keys, at p = 0.001: 0.2, and 4 sigma are 1.8. */
  answer = ask(db,
               "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 200) "
               "SELECT sum(bloom_lookup(%Q, 'absent' || i)) <= 2 FROM c",
               mail);
  return strcmp(answer, "1|") == 0 ? NULL : answer;
}

static const char *check_any(sqlite3 *db, bool same, bool detached) {
  char mail[40], source[40], column[40];
  const char *wrong;
  if (!read_names(db, mail, source, column)) return "the schema cannot be read";
  if (same && source[0] != '-') {
    wrong = ask(db,
                "INSERT INTO \"%w\"(\"%w\") VALUES ('After' || random()), ('Wards'); "
                "UPDATE \"%w\" SET \"%w\" = 'Changed' || random() WHERE id = 3",
                source, column, source, column);
    if (*wrong) return wrong;
  }
  if (mail[0] != '-') {
    wrong = ask(db, "SELECT count(*) FROM sqlite_master WHERE name = '%w_data'", mail);
    if (strcmp(wrong, "1|") != 0) return "there is a table without its shadow table";
    wrong = check_step(db, mail, source, column, detached);
    if (wrong) return wrong;
  }
  wrong =
      ask(db,
          "SELECT group_concat(name) FROM sqlite_master WHERE name LIKE '%%\\_keys' ESCAPE '\\' OR "
          "(%d AND (name LIKE 'mail\\_%%' ESCAPE '\\' OR name LIKE 'post\\_%%' ESCAPE '\\'))",
          mail[0] == '-');
  if (strcmp(wrong, "NULL|") != 0) return wrong;
  if (mail[0] == '-' && same && source[0] != '-') {
    wrong = ask(db, "CREATE VIRTUAL TABLE mail USING bloom(of='%w(lower(%w))', p=0.001)", source,
                column);
    if (*wrong) return wrong;
  }
  return NULL;
}

static const char *check_attached(sqlite3 *db, bool same) {
  return check_any(db, same, false);
}

static const char *check_detached(sqlite3 *db, bool same) {
  return check_any(db, same, true);
}

/* of= with two expressions: the key is a bloom_key. */
static const char *check_two(sqlite3 *db, bool same) {
  const char *wrong;
  if (same) {
    wrong = ask(db, "INSERT INTO src(email, other) VALUES ('After' || random(), random())");
    if (*wrong) return wrong;
  }
  if (strcmp(ask(db, "SELECT count(*) FROM sqlite_master WHERE name = 'two'"), "1|") == 0) {
    wrong = ask(db,
                "SELECT sum(NOT bloom_lookup('two', bloom_key(email, other))), "
                "sum(bloom_lookup('two', bloom_key(email, other + 1))) <= 5 FROM src");
    return strcmp(wrong, "0|1|") == 0 ? NULL : wrong;
  }
  wrong = ask(db, "SELECT group_concat(name) FROM sqlite_master WHERE name LIKE 'two%%'");
  return strcmp(wrong, "NULL|") == 0 ? NULL : wrong;
}

#define NEW(name) "INSERT INTO src(email) VALUES ('" name "1'), ('" name "2')"

static const Scenario scenarios[] = {
    {"of=: CREATE",
     SOURCE,
     NULL,
     {"CREATE VIRTUAL TABLE mail USING bloom(" OF ")", NEW("Early")},
     check_attached,
     NULL},
    {"of=: CREATE in a transaction",
     SOURCE,
     "BEGIN;" NEW("Before"),
     {"CREATE VIRTUAL TABLE mail USING bloom(" OF ", kind=counting)", NEW("Early")},
     check_attached,
     NULL},
    {"of=: CREATE, two columns",
     SOURCE,
     "SELECT count(*) FROM src",
     {"CREATE VIRTUAL TABLE two USING bloom(of='src(\"email\", other)')",
      "SELECT sum(bloom_lookup('two', bloom_key(email, other))) FROM src"},
     check_two,
     NULL},
    {"small: of=, no such column",
     SOURCE,
     "SELECT count(*) FROM src",
     {"CREATE VIRTUAL TABLE bad USING bloom(of='src(other, \"emial\")')"},
     check_attached,
     "emial"},
    {"of=: writes",
     PLAIN,
     WARM,
     {"BEGIN", NEW("Sam"), "UPDATE src SET email = 'Upd' || id WHERE id < 9", "SAVEPOINT a",
      NEW("Bert"), "ROLLBACK TO a", "DELETE FROM src WHERE id = 9", NEW("Cecil"), "COMMIT"},
     check_attached,
     NULL},
    {"of=: writes, counting, cold",
     COUNTING,
     NULL,
     {"UPDATE src SET email = 'Upd' || id WHERE id < 5", "DELETE FROM src WHERE id = 9",
      NEW("Cecil")},
     check_attached,
     NULL},
    {"of=: reads",
     PLAIN,
     NULL,
     {"SELECT count(*) FROM src WHERE EXISTS (SELECT 1 FROM mail WHERE key = lower(email))",
      "SELECT sum(bloom_lookup('mail', lower(email))) FROM src"},
     check_attached,
     NULL},
    {"small: of=, integrity_check",
     PLAIN,
     NULL,
     {"SELECT count(*) FROM pragma_integrity_check WHERE integrity_check LIKE 'bloom table%'"},
     check_attached,
     NULL},
    {"small: of=, a renamed column",
     PLAIN "ALTER TABLE src RENAME COLUMN email TO address",
     NULL,
     {WARM},
     check_attached,
     NULL},
    {"small: of=, a stranger's trigger",
     SOURCE "CREATE TRIGGER mail_insert AFTER INSERT ON src BEGIN SELECT 1; END",
     NULL,
     {"CREATE VIRTUAL TABLE mail USING bloom(" OF ")"},
     NULL,
     "already"},
    {"of=: rebuild",
     PLAIN,
     NULL,
     {"INSERT INTO mail(mail) VALUES ('rebuild')", NEW("Late")},
     check_attached,
     NULL},
    {"of=: rebuild in a transaction",
     COUNTING,
     "BEGIN;" NEW("Before"),
     {"DELETE FROM src WHERE id = 7", "INSERT INTO mail(mail) VALUES ('optimize')", NEW("Late")},
     check_attached,
     NULL},
    {"of=: detached and rebuilt",
     PLAIN "DROP TRIGGER mail_update; INSERT INTO src(email) VALUES ('Lost')",
     "BEGIN",
     {"INSERT INTO mail(mail) VALUES ('rebuild')", NEW("Late")},
     check_detached,
     NULL},
    {"of=: both triggers gone, rebuilt",
     PLAIN "DROP TRIGGER mail_update; DROP TRIGGER mail_insert",
     NULL,
     {"INSERT INTO mail(mail) VALUES ('rebuild')", NEW("Late")},
     check_detached,
     NULL},
    {"of=: rename of the table",
     PLAIN,
     "BEGIN;" NEW("Before"),
     {"ALTER TABLE mail RENAME TO post", NEW("Late")},
     check_attached,
     NULL},
    {"of=: rename of the table, cold",
     COUNTING,
     NULL,
     {"ALTER TABLE mail RENAME TO post"},
     check_attached,
     NULL},
    {"of=: rename of source and column",
     PLAIN,
     WARM,
     {"ALTER TABLE src RENAME COLUMN email TO address", "ALTER TABLE src RENAME TO people",
      "INSERT INTO people(address) VALUES ('New')", "INSERT INTO mail(mail) VALUES ('rebuild')"},
     check_attached,
     NULL},
    {"of=: DROP", PLAIN, NULL, {"DROP TABLE mail"}, check_attached, NULL},
    {"of=: DROP in a transaction",
     COUNTING,
     "BEGIN;" NEW("Before"),
     {"DROP TABLE mail", NEW("Late")},
     check_attached,
     NULL},
    {"of=: DROP of the source", PLAIN, WARM, {"DROP TABLE src"}, check_attached, NULL}};

void suite_follow(void) {
  for (unsigned i = 0; i < COUNT(scenarios); i++) scenario_loops(&scenarios[i]);
}
