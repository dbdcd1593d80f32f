-- Conversations by what they cost and by what they saved, of everybody and of one reader.
CREATE INDEX conversations_by_cost ON conversations (cost_nano, number);
CREATE INDEX conversations_by_saving ON conversations (baseline_nano - cost_nano, number);
CREATE INDEX conversations_by_reader_cost ON conversations (reader, cost_nano, number);
CREATE INDEX conversations_by_reader_saving ON conversations (reader, baseline_nano - cost_nano, number);
