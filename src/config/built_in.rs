//! The built-in policies: named sets of options, each as its source states it.

/// A named set of options.
#[derive(Debug)]
pub(crate) struct Named {
    /// What `--policy` takes.
    pub(crate) name: &'static str,
    /// Option names without the dashes, and their values as text.
    pub(crate) sets: &'static [(&'static str, &'static str)],
    /// Where the numbers come from, or what it is for.
    pub(crate) source: &'static str,
}

/// All of them.
pub(crate) const BUILT_IN: &[Named] = &[
    Named {
        name: "sip",
        sets: &[
            ("base", "500ms"),
            ("factor", "2"),
            ("max-delay", "4s"),
            ("jitter", "none"),
        ],
        source: "RFC 3261, 17.1.2.2: T1 = 500ms doubling up to T2 = 4s",
    },
    Named {
        name: "google",
        sets: &[
            ("base", "1s"),
            ("factor", "2"),
            ("max-delay", "64s"),
            ("jitter", "additive"),
            ("spread", "1s"),
            ("attempts", "unlimited"),
        ],
        source: "Google Cloud, Memorystore for Redis, exponential backoff: min(2^n s + random ms up to 1000, maximum)",
    },
    Named {
        name: "ethernet",
        sets: &[("base", "51.2us"), ("jitter", "slotted:10"), ("attempts", "16")],
        source: "IEEE 802.3, 4.2.3.2.5: slot time 512 bit times at 10 Mbit/s, backoffLimit 10, attemptLimit 16",
    },
    Named {
        name: "aws",
        sets: &[
            ("base", "100ms"),
            ("factor", "2"),
            ("max-delay", "20s"),
            ("jitter", "full"),
            ("attempts", "3"),
        ],
        source: "AWS SDKs and Tools reference guide, retry behavior, standard mode",
    },
    Named {
        name: "clojure",
        sets: &[
            ("base", "1s"),
            ("factor", "2"),
            ("jitter", "none"),
            ("stop-at-delay", "10s"),
            ("attempts", "unlimited"),
        ],
        source: "exponential-backoff [time rate max p? f] with its defaults 1000 ms, 2, 10000 ms",
    },
    Named {
        name: "cron",
        sets: &[
            ("stdout", "failure"),
            ("stderr", "failure"),
            ("splay", "30s"),
            ("c-locale", "true"),
        ],
        source: "cron mails what a job prints: all of it if the run has failed, nothing if not",
    },
];
