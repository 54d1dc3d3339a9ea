"""Gates in tests: `assert_metric` for any test, and the pytest plugin with its fixtures (metrics.testing.plugin)."""

from metrics.testing.assertions import assert_metric as assert_metric
