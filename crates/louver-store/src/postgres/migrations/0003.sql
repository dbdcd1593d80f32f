-- Conversations by what they cost and by what they saved, of everybody and of one reader.
CREATE INDEX conversations_by_cost ON louver.conversations (cost_nano, number);
CREATE INDEX conversations_by_saving ON louver.conversations ((baseline_nano - cost_nano), number);
CREATE INDEX conversations_by_reader_cost ON louver.conversations (reader, cost_nano, number);
CREATE INDEX conversations_by_reader_saving ON louver.conversations (reader, (baseline_nano - cost_nano), number);
