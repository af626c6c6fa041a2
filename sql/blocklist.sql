-- blocklist.sql: a blocklist that changes all day, with a filter beside it.
--
-- Mail comes in, and nearly all of it is from senders that nobody blocked. The bloom table says so
-- at once; only its maybes ask the real list. Senders are blocked and unblocked all the time, so
-- the table counts (kind=counting) and forgets the ones that leave. Here three triggers of our
-- own keep it in step; of= (follow.sql) writes such triggers for you.
--
--   sqlite3 < sql/blocklist.sql
--
-- Write your own where not every row belongs in the filter, as here, where only blocks that hold
-- do. Mind three things: a trigger for each way in which a row can come, change and go; an UPDATE
-- trigger without WHEN old.x <> new.x, which misses changes of case under NOCASE; and
-- PRAGMA recursive_triggers, without which REPLACE deletes rows unseen.

.bail on
.load build/bloom
PRAGMA recursive_triggers = ON;

CREATE TABLE blocklist(sender TEXT PRIMARY KEY, active INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE blocked USING bloom(n=20000, p=0.001, kind=counting);
CREATE TRIGGER block AFTER INSERT ON blocklist WHEN new.active BEGIN
  INSERT INTO blocked(key) VALUES (new.sender);
END;
CREATE TRIGGER unblock AFTER DELETE ON blocklist WHEN old.active BEGIN
  DELETE FROM blocked WHERE key = old.sender;
END;
CREATE TRIGGER change AFTER UPDATE ON blocklist BEGIN
  INSERT INTO blocked(key) SELECT new.sender WHERE new.active;
  DELETE FROM blocked WHERE key = old.sender AND old.active;
END;
INSERT INTO blocklist
  SELECT printf('spam%d@junk%d.example', value, value % 100), 1 FROM generate_series(1, 10000);

-- The mailbox refuses what is blocked. The filter is asked first, and never alone.
CREATE TABLE mailbox(sender TEXT, subject TEXT);
CREATE TRIGGER refuse BEFORE INSERT ON mailbox
WHEN EXISTS (SELECT 1 FROM blocked WHERE key = new.sender)
 AND EXISTS (SELECT 1 FROM blocklist WHERE sender = new.sender AND active)
BEGIN
  SELECT raise(IGNORE);
END;

-- 20,000 mails, every hundredth from a blocked sender.
CREATE TABLE incoming AS
  SELECT iif(value % 100 = 0, printf('spam%d@junk%d.example', value / 2, value / 2 % 100),
             printf('friend%d@example.org', value)) AS sender
  FROM generate_series(1, 20000);
INSERT INTO mailbox SELECT sender, 'hello' FROM incoming;
SELECT printf('20000 came, %d are in the mailbox', count(*)) FROM mailbox;
SELECT printf('blocked senders among them: %d', count(*))
  FROM mailbox JOIN blocklist USING (sender);

-- Of the 19,800 others, p = 1 in 1,000 was looked up in vain: 20 are expected in a filter that is
-- full, fewer in this one, which is half full.
SELECT iif(sum(maybe) BETWEEN 200 AND 200 + 20 + 5 * 5, 'asked of the list: 200 and a few',
           printf('asked of the list: %d', sum(maybe)))
  FROM (SELECT bloom_lookup('blocked', sender) AS maybe FROM incoming);

-- Unblocked, replaced, renamed, switched off: the filter follows.
DELETE FROM blocklist WHERE sender = 'spam1@junk1.example';
REPLACE INTO blocklist VALUES ('spam2@junk2.example', 0);
UPDATE blocklist SET sender = 'other3@junk3.example' WHERE sender = 'spam3@junk3.example';
UPDATE blocklist SET active = 0 WHERE sender = 'spam4@junk4.example';
SELECT key || ': ' || bloom_lookup('blocked', key)
  FROM (SELECT 'spam1@junk1.example' AS key UNION ALL SELECT 'spam2@junk2.example'
        UNION ALL SELECT 'spam3@junk3.example' UNION ALL SELECT 'other3@junk3.example'
        UNION ALL SELECT 'spam4@junk4.example' UNION ALL SELECT 'spam5@junk5.example');
SELECT printf('missed of the %d that are blocked: %d', count(*),
              sum(NOT bloom_lookup('blocked', sender)))
  FROM blocklist WHERE active;
