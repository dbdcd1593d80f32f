-- Which step of the schema this is.
CREATE TABLE louver.schema_version (
    only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    version BIGINT NOT NULL
);

-- Decisions. Nothing here is text of a conversation.
CREATE TABLE louver.decisions (
    sequence BIGINT PRIMARY KEY,
    chain BYTEA NOT NULL,
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    is_shown BOOLEAN NOT NULL DEFAULT FALSE,
    touches BYTEA NOT NULL,
    conversation TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    record BYTEA NOT NULL
);
CREATE UNIQUE INDEX decisions_by_key ON louver.decisions (chain, upstream, model, attempt);
CREATE INDEX decisions_by_touches ON louver.decisions (touches, upstream);
CREATE INDEX decisions_by_conversation ON louver.decisions (conversation, at_ms);

-- Grows whenever a decision is inserted, shown or removed. Whoever does any of these holds this row until the end of the
-- transaction: so versions are seen in their order, an inserted decision takes the version as its number, and nobody who
-- has asked for everything up to a number misses one that was committed later.
CREATE TABLE louver.decisions_version (
    only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    version BIGINT NOT NULL
) WITH (fillfactor = 10);
INSERT INTO louver.decisions_version (version) VALUES (0);

CREATE FUNCTION louver.next_version() RETURNS BIGINT LANGUAGE sql AS
    'UPDATE louver.decisions_version SET version = version + 1 RETURNING version';

-- Keeps a decision if there is none at its key. Each statement of a function sees what was committed before it.
CREATE FUNCTION louver.insert_decision(
    the_chain BYTEA, the_upstream TEXT, the_model TEXT, the_attempt BIGINT, the_touches BYTEA, the_conversation TEXT,
    the_at_ms BIGINT, the_record BYTEA
) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
DECLARE
    number BIGINT;
BEGIN
    PERFORM FROM louver.decisions
        WHERE chain = the_chain AND upstream = the_upstream AND model = the_model AND attempt = the_attempt;
    IF FOUND THEN
        RETURN FALSE;
    END IF;
    number := louver.next_version();
    INSERT INTO louver.decisions (sequence, chain, upstream, model, attempt, touches, conversation, at_ms, record)
        VALUES (number, the_chain, the_upstream, the_model, the_attempt, the_touches, the_conversation, the_at_ms,
            the_record)
        ON CONFLICT (chain, upstream, model, attempt) DO NOTHING;
    RETURN FOUND;
END
$$;

-- Keeps a further attempt while none at its request is shown: both are asked with the version held.
CREATE FUNCTION louver.insert_attempt(
    the_chain BYTEA, the_upstream TEXT, the_model TEXT, the_attempt BIGINT, the_touches BYTEA, the_conversation TEXT,
    the_at_ms BIGINT, the_record BYTEA, the_most BIGINT
) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
DECLARE
    number BIGINT;
BEGIN
    number := louver.next_version();
    INSERT INTO louver.decisions (sequence, chain, upstream, model, attempt, touches, conversation, at_ms, record)
        SELECT number, the_chain, the_upstream, the_model, the_attempt, the_touches, the_conversation, the_at_ms,
            the_record
        WHERE the_attempt <= the_most
            AND EXISTS (SELECT FROM louver.decisions WHERE chain = the_chain AND upstream = the_upstream
                AND model = the_model AND attempt = the_attempt - 1)
            AND NOT EXISTS (SELECT FROM louver.decisions WHERE chain = the_chain AND upstream = the_upstream
                AND model = the_model AND is_shown)
        ON CONFLICT (chain, upstream, model, attempt) DO NOTHING;
    RETURN FOUND;
END
$$;

-- Notes that an attempt is shown; says whether there is one.
CREATE FUNCTION louver.mark_shown(the_chain BYTEA, the_upstream TEXT, the_model TEXT, the_attempt BIGINT)
RETURNS BOOLEAN LANGUAGE plpgsql AS $$
DECLARE
    was_shown BOOLEAN;
BEGIN
    SELECT is_shown INTO was_shown FROM louver.decisions
        WHERE chain = the_chain AND upstream = the_upstream AND model = the_model AND attempt = the_attempt;
    IF was_shown IS NULL OR was_shown THEN
        RETURN was_shown IS NOT NULL;
    END IF;
    PERFORM louver.next_version();
    UPDATE louver.decisions SET is_shown = TRUE
        WHERE chain = the_chain AND upstream = the_upstream AND model = the_model AND attempt = the_attempt;
    RETURN FOUND;
END
$$;

-- Learned facts.
CREATE TABLE louver.served_models (
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    calibration_millionths BIGINT,
    longest_answer BIGINT,
    PRIMARY KEY (upstream, model)
);
CREATE TABLE louver.context_limits (
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    beta TEXT NOT NULL,
    credential BYTEA NOT NULL,
    tokens BIGINT NOT NULL,
    learned_ms BIGINT NOT NULL,
    PRIMARY KEY (upstream, model, beta, credential)
);

-- The account. Money in billionths of a dollar.
CREATE TABLE louver.readers (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE louver.conversations (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    parent TEXT,
    reader BIGINT NOT NULL REFERENCES louver.readers (number),
    format TEXT NOT NULL,
    model TEXT NOT NULL,
    first_ms BIGINT NOT NULL,
    last_ms BIGINT NOT NULL,
    requests BIGINT NOT NULL DEFAULT 0,
    cuts BIGINT NOT NULL DEFAULT 0,
    rescued BIGINT NOT NULL DEFAULT 0,
    last_sent BIGINT,
    last_held BIGINT,
    sent BIGINT NOT NULL DEFAULT 0,
    held BIGINT NOT NULL DEFAULT 0,
    input BIGINT NOT NULL DEFAULT 0,
    cache_read BIGINT NOT NULL DEFAULT 0,
    cache_write_5m BIGINT NOT NULL DEFAULT 0,
    cache_write_1h BIGINT NOT NULL DEFAULT 0,
    output BIGINT NOT NULL DEFAULT 0,
    reasoning BIGINT NOT NULL DEFAULT 0,
    cost_nano BIGINT NOT NULL DEFAULT 0,
    baseline_nano BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX conversations_by_last ON louver.conversations (last_ms, number);
CREATE INDEX conversations_by_reader ON louver.conversations (reader, last_ms, number);
CREATE TABLE louver.requests (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    conversation BIGINT NOT NULL REFERENCES louver.conversations (number),
    at_ms BIGINT NOT NULL,
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    outcome TEXT NOT NULL,
    is_repeat BOOLEAN NOT NULL,
    status BIGINT,
    input BIGINT,
    cache_read BIGINT,
    cache_write_5m BIGINT,
    cache_write_1h BIGINT,
    output BIGINT,
    reasoning BIGINT,
    cost_nano BIGINT,
    baseline_nano BIGINT,
    sent BIGINT,
    held BIGINT,
    observed_sent BIGINT,
    observed_cost_nano BIGINT,
    cut_reason TEXT,
    cache_break TEXT,
    duration_ms BIGINT NOT NULL
);
CREATE INDEX requests_by_conversation ON louver.requests (conversation, number);

-- Content. A message has the numbers from `id` on for its passages, 65536 of them.
CREATE SEQUENCE louver.message_numbers;
CREATE TABLE louver.messages (
    id BIGINT PRIMARY KEY DEFAULT nextval('louver.message_numbers') * 65536,
    reader BIGINT NOT NULL REFERENCES louver.readers (number),
    hash BYTEA NOT NULL UNIQUE,
    format TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    -- How many terms each passage has, two bytes each, the low one first.
    lengths BYTEA NOT NULL
);
CREATE INDEX messages_by_reader ON louver.messages (reader, id);
CREATE TABLE louver.texts (
    message BIGINT PRIMARY KEY REFERENCES louver.messages (id) ON DELETE CASCADE,
    raw BYTEA NOT NULL
);

-- A conversation as one reader knows it, and where its messages stand. `previous` is the position before, 0 if unknown.
CREATE TABLE louver.threads (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    conversation BIGINT NOT NULL REFERENCES louver.conversations (number),
    reader BIGINT NOT NULL REFERENCES louver.readers (number),
    UNIQUE (conversation, reader)
);
CREATE SEQUENCE louver.position_numbers;
CREATE TABLE louver.positions (
    id BIGINT PRIMARY KEY DEFAULT nextval('louver.position_numbers'),
    thread BIGINT NOT NULL REFERENCES louver.threads (number),
    message_index BIGINT NOT NULL,
    chain BYTEA NOT NULL,
    previous BIGINT NOT NULL,
    message BIGINT NOT NULL REFERENCES louver.messages (id)
);
CREATE UNIQUE INDEX positions_by_chain ON louver.positions (chain, thread);
CREATE INDEX positions_by_thread ON louver.positions (thread, message_index) INCLUDE (id, previous, message);
CREATE INDEX positions_by_message ON louver.positions (message);

-- The terms of each passage, every one once, as hashes that differ from reader to reader. How often a term stands in a
-- passage is said by further ones: the bits of how often it is repeated.
CREATE TABLE louver.passages (
    id BIGINT PRIMARY KEY,
    message BIGINT NOT NULL REFERENCES louver.messages (id) ON DELETE CASCADE,
    terms BIGINT[] NOT NULL
);
CREATE INDEX passages_by_message ON louver.passages (message);
-- Without a list of what is yet to be sorted in: every search would read all of it.
CREATE INDEX passages_by_term ON louver.passages USING gin (terms) WITH (fastupdate = off);
