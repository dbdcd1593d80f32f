-- Which transaction wrote a message: whoever knows all messages of a moment asks for those of later transactions. Messages
-- from before this step have none, and are known to everybody who asks.
ALTER TABLE louver.messages ADD COLUMN written XID8;
ALTER TABLE louver.messages ALTER COLUMN written SET DEFAULT pg_current_xact_id();
CREATE INDEX messages_by_written ON louver.messages (reader, written) WHERE written IS NOT NULL;

-- Changes whenever messages are removed, so that a process knows whether those that it remembers are still there. Before
-- any is, so that nobody holds one and waits for this row.
CREATE TABLE louver.removals (
    only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    version BIGINT NOT NULL
) WITH (fillfactor = 10);
INSERT INTO louver.removals (version) VALUES (0);
CREATE FUNCTION louver.note_removal() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE louver.removals SET version = version + 1;
    RETURN NULL;
END
$$;
CREATE TRIGGER message_removed BEFORE DELETE ON louver.messages
    FOR EACH STATEMENT EXECUTE FUNCTION louver.note_removal();
