-- What requests came to, by day: all that is asked for stands here, so the table need not be read.
CREATE INDEX requests_by_time ON louver.requests (at_ms) INCLUDE (conversation, model, cost_nano, baseline_nano);
