-- Decisions. Nothing here is text of a conversation.
CREATE TABLE decisions (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    chain BLOB NOT NULL,
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    is_shown INTEGER NOT NULL DEFAULT 0,
    touches BLOB NOT NULL,
    conversation TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    record BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX decisions_by_key ON decisions (chain, upstream, model, attempt);
CREATE INDEX decisions_by_touches ON decisions (touches, upstream);
CREATE INDEX decisions_by_conversation ON decisions (conversation, at_ms);

-- Changes whenever a decision does, so that a process knows whether what it remembers still holds.
CREATE TABLE decisions_version (
    only INTEGER PRIMARY KEY CHECK (only = 0),
    version INTEGER NOT NULL
) STRICT;
INSERT INTO decisions_version VALUES (0, 0);
CREATE TRIGGER decision_inserted AFTER INSERT ON decisions BEGIN
    UPDATE decisions_version SET version = version + 1;
END;
CREATE TRIGGER decision_changed AFTER UPDATE ON decisions BEGIN
    UPDATE decisions_version SET version = version + 1;
END;
CREATE TRIGGER decision_removed AFTER DELETE ON decisions BEGIN
    UPDATE decisions_version SET version = version + 1;
END;

-- Learned facts.
CREATE TABLE served_models (
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    calibration_millionths INTEGER,
    longest_answer INTEGER,
    PRIMARY KEY (upstream, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE context_limits (
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    beta TEXT NOT NULL,
    credential BLOB NOT NULL,
    tokens INTEGER NOT NULL,
    learned_ms INTEGER NOT NULL,
    PRIMARY KEY (upstream, model, beta, credential)
) STRICT, WITHOUT ROWID;

-- The account. Money in billionths of a dollar.
CREATE TABLE readers (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE conversations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    parent TEXT,
    reader INTEGER NOT NULL REFERENCES readers (number),
    format TEXT NOT NULL,
    model TEXT NOT NULL,
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    requests INTEGER NOT NULL DEFAULT 0,
    cuts INTEGER NOT NULL DEFAULT 0,
    rescued INTEGER NOT NULL DEFAULT 0,
    last_sent INTEGER,
    last_held INTEGER,
    sent INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0,
    input INTEGER NOT NULL DEFAULT 0,
    cache_read INTEGER NOT NULL DEFAULT 0,
    cache_write_5m INTEGER NOT NULL DEFAULT 0,
    cache_write_1h INTEGER NOT NULL DEFAULT 0,
    output INTEGER NOT NULL DEFAULT 0,
    reasoning INTEGER NOT NULL DEFAULT 0,
    cost_nano INTEGER NOT NULL DEFAULT 0,
    baseline_nano INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX conversations_by_last ON conversations (last_ms, number);
CREATE INDEX conversations_by_reader ON conversations (reader, last_ms, number);
CREATE TABLE requests (
    number INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversations (number),
    at_ms INTEGER NOT NULL,
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    outcome TEXT NOT NULL,
    is_repeat INTEGER NOT NULL,
    status INTEGER,
    input INTEGER,
    cache_read INTEGER,
    cache_write_5m INTEGER,
    cache_write_1h INTEGER,
    output INTEGER,
    reasoning INTEGER,
    cost_nano INTEGER,
    baseline_nano INTEGER,
    sent INTEGER,
    held INTEGER,
    observed_sent INTEGER,
    observed_cost_nano INTEGER,
    cut_reason TEXT,
    cache_break TEXT,
    duration_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX requests_by_conversation ON requests (conversation, number);

-- Content. A message takes as many numbers as it has passages, and at least one: `id`, `id` + 1, ... are its passages.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    reader INTEGER NOT NULL REFERENCES readers (number),
    hash BLOB NOT NULL UNIQUE,
    format TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    -- How many terms each passage has, two bytes each, the low one first.
    lengths BLOB NOT NULL
) STRICT;
CREATE INDEX messages_by_reader ON messages (reader, id, lengths);
CREATE TABLE texts (
    message INTEGER PRIMARY KEY REFERENCES messages (id),
    raw TEXT NOT NULL
) STRICT;
CREATE TABLE next_passage (
    only INTEGER PRIMARY KEY CHECK (only = 0),
    id INTEGER NOT NULL
) STRICT;
INSERT INTO next_passage VALUES (0, 1);

-- A conversation as one reader knows it, and where its messages stand. `previous` is the position before, 0 if unknown.
CREATE TABLE threads (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL REFERENCES conversations (number),
    reader INTEGER NOT NULL REFERENCES readers (number),
    UNIQUE (conversation, reader)
) STRICT;
CREATE TABLE positions (
    id INTEGER PRIMARY KEY,
    thread INTEGER NOT NULL REFERENCES threads (number),
    message_index INTEGER NOT NULL,
    chain BLOB NOT NULL,
    previous INTEGER NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (id)
) STRICT;
CREATE UNIQUE INDEX positions_by_chain ON positions (chain, thread);
CREATE INDEX positions_by_thread ON positions (thread, message_index, previous, message);
CREATE INDEX positions_by_message ON positions (message);

-- The terms of each passage, every one once, behind the number of its reader: `3:main_loop`. How often a term stands in a
-- passage is said by further terms: `3:main_loop!0`, `!1` ... are the bits of how often it is repeated.
CREATE VIRTUAL TABLE passages USING fts5 (
    terms,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = "ascii tokenchars ':@#=/\.-+~_$!'"
);
