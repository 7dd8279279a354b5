//! JUnit's XML, which most continuous integration reads: a suite for each object, a case for each function.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};
use ringforge_prove::Verdict;

use super::row::Row;

/// The results as text.
///
/// # Errors
/// They have no form in XML.
pub fn text(rows: &[Row]) -> Result<String, SerializeError> {
    let mut report = Report::new("ringforge");
    let mut objects: Vec<&str> = rows.iter().map(|row| row.label.object.as_str()).collect();
    objects.sort_unstable();
    objects.dedup();
    for object in objects {
        let name = if object.is_empty() { "no object" } else { object };
        let mut suite = TestSuite::new(name);
        let mut time = 0.0;
        for row in rows.iter().filter(|row| row.label.object == object) {
            time += row.seconds;
            suite.add_test_case(case(row));
        }
        suite.set_time(duration(time));
        report.add_test_suite(suite);
    }
    report.to_string()
}

fn case(row: &Row) -> TestCase {
    // A refuted function breaks its contract; of an unknown one, the proof itself did not succeed.
    let kind = match row.verdict {
        Verdict::Proved => None,
        Verdict::Refuted => Some(NonSuccessKind::Failure),
        Verdict::Unknown => Some(NonSuccessKind::Error),
    };
    let status = match kind {
        None => TestCaseStatus::success(),
        Some(kind) => {
            let mut status = TestCaseStatus::non_success(kind);
            let first = row.reasons.first().map_or("no reason", String::as_str);
            status.set_message(format!("{}: {first}", row.verdict));
            status.set_type(row.causes.first().map_or("unknown", |cause| cause.kind.as_str()));
            status.set_description(row.reasons.join("\n"));
            status
        }
    };
    let mut case = TestCase::new(row.label.function.as_str(), status);
    case.set_classname(row.label.contract.as_str());
    case.set_time(duration(row.seconds));
    if row.cached {
        case.add_property(("cached", "true"));
    }
    case
}

/// What no clock gives is no time.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
