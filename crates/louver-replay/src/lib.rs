//! Replays recorded conversations under any window policy: what it costs, what it forgets, whether it is legal.
