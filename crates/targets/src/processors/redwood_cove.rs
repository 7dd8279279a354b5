//! Intel's Redwood Cove, which is Golden Cove with twice the cache for code.

use super::{Cache, Code, Lines, Processor, Queues, Timing, once};

/// Three vector ports, 0, 1 and 5: two multiply, two move.
pub const REDWOOD_COVE: Processor = Processor {
    name: "Redwood Cove",
    vendor: "GenuineIntel",
    // Granite Rapids, Meteor Lake
    models: &[(6, 173), (6, 174), (6, 170), (6, 172)],
    dispatch: 6,
    queues: Queues { window: 512, results: 300, stores: 112, arithmetic: 97, data: 38 },
    bound: true,
    replays: true,
    loads: 3,
    splits: 1,
    stores: 2,
    commits: 2,
    load_latency: 7,
    forward: 6,
    blocked: 16,
    cache: Cache {
        lines: Lines { size: 49152, ways: 12, line: 64 },
        latency: 14,
        fetch: 1.5,
        back: 2.3,
    },
    code: Code { lines: Lines { size: 65536, ways: 16, line: 64 }, fetch: 4.9 },
    ahead: 12.0,
    instruction: [5, 8],
    call: 12,
    iteration: 2,
    registers: 16,
    timings: [
        once(0b111, 1),
        once(0b011, 1),
        once(0b110, 1),
        once(0b011, 1),
        once(0b011, 5),
        Timing { units: 0b011, latency: 5, times: 2 },
        once(0b110, 1),
        once(0b110, 1),
        once(0b100, 3),
        once(0b111, 1),
        once(0b100, 3),
        once(0b100, 3),
        once(0, 0),
        once(0, 0),
        once(0, 1),
    ],
};
