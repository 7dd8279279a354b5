//! What processor this is, for reports and for choosing targets.

use serde::Serialize;

/// The machine that ringforge runs on.
#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// Processor as it names itself.
    pub processor: String,
    /// Vendor, family and model number, since virtual machines often hide the name.
    pub model: String,
    /// Cores that this process may see.
    pub cores: usize,
    /// Operating system and architecture, `linux x86_64`.
    pub system: String,
    /// Processor features under the kernel's names (`avx2`, `avx_vnni`, …).
    #[serde(skip)]
    pub features: Vec<String>,
}

impl Host {
    /// Reads `/proc/cpuinfo`; where there is none the fields say `unknown`.
    pub fn detect() -> Host {
        Host::from_cpuinfo(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    fn from_cpuinfo(text: &str) -> Host {
        let field = |name: &str| {
            text.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.trim() == name)
                .map(|(_, value)| value.trim().to_owned())
        };
        let or = |name: &str| field(name).unwrap_or_else(|| "unknown".into());
        Host {
            processor: or("model name"),
            model: format!(
                "{} family {} model {} stepping {}",
                or("vendor_id"),
                or("cpu family"),
                or("model"),
                or("stepping")
            ),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            features: field("flags")
                .or_else(|| field("Features"))
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Whether the processor has `feature` (the kernel's name, such as `avx2`).
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|f| f == feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_model_and_features() {
        let host = Host::from_cpuinfo(
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n\
             model name\t: AMD EPYC\nstepping\t: 1\nflags\t\t: fpu avx2 avx_vnni\n",
        );
        assert_eq!(host.processor, "AMD EPYC");
        assert_eq!(host.model, "AuthenticAMD family 26 model 2 stepping 1");
        assert!(host.has("avx2") && host.has("avx_vnni") && !host.has("avx"));
        assert_eq!(Host::from_cpuinfo("").processor, "unknown");
    }
}
