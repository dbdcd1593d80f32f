-- What requests came to, by day: all that is asked for stands here, so the table is not read.
CREATE INDEX requests_by_time ON requests (at_ms, conversation, model, cost_nano, baseline_nano);
