//! AMD's Zen 4.

use super::{Cache, Code, Lines, Processor, Queues, once};

/// Four vector pipes: two multiply, and two or three move.
pub const ZEN4: Processor = Processor {
    name: "Zen 4",
    vendor: "AuthenticAMD",
    // Genoa, Raphael and Phoenix, Bergamo
    models: &[(25, 17), (25, 97), (25, 116), (25, 117), (25, 120), (25, 160)],
    dispatch: 6,
    queues: Queues { window: 320, results: 160, stores: 64, arithmetic: 128, data: 128 },
    bound: false,
    replays: false,
    loads: 2,
    splits: 1,
    stores: 1,
    commits: 1,
    load_latency: 7,
    forward: 8,
    blocked: 7,
    cache: Cache {
        lines: Lines { size: 32768, ways: 8, line: 64 },
        latency: 14,
        fetch: 1.0,
        back: 1.0,
    },
    code: Code { lines: Lines { size: 32768, ways: 8, line: 64 }, fetch: 2.0 },
    ahead: 12.0,
    instruction: [5, 8],
    call: 12,
    iteration: 2,
    registers: 16,
    timings: [
        once(0b1111, 1),
        once(0b1111, 1),
        once(0b1111, 1),
        once(0b0110, 1),
        once(0b1001, 3),
        once(0b1001, 3),
        once(0b1110, 1),
        once(0b0110, 2),
        once(0b0110, 3),
        once(0b0110, 1),
        once(0b0110, 1),
        once(0b0110, 2),
        once(0b0110, 3),
        once(0, 0),
        once(0, 1),
    ],
};
