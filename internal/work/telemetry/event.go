package telemetry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// EventVersion is the schema_version of an event.
const EventVersion = "telemetry.v1"

// The types of events.
const (
	runStatus       = "run_status"
	stageStarted    = "stage_started"
	stageFinished   = "stage_finished"
	retryPlanned    = "stage_retry_planned"
	watchdogTimeout = "watchdog_timeout"
)

var (
	eventTypes   = []string{runStatus, stageStarted, stageFinished, retryPlanned, watchdogTimeout}
	outcomes     = []string{"succeeded", "failed", "timed_out", "cancelled"}
	failureKinds = []string{"timeout", "tool_error", "invalid_output", "gate_failed", "unknown"}
)

// check returns SCHEMA_VALIDATION_FAILED for the first rule that an event breaks.
func check(event *codec.Value, runID string) error {
	c := checker{event: event}
	c.text("schema_version", func(s string) bool { return s == EventVersion }, "must be "+EventVersion)
	c.text("run_id", func(s string) bool { return s == runID }, fmt.Sprintf("must be that of the run, %q", runID))
	c.atLeast("seq", 1)
	c.text("ts", func(s string) bool { _, ok := tidegate.ParseTime(s); return ok && strings.HasSuffix(s, "Z") }, "must be a time in UTC that ends with Z")
	c.oneOf("event_type", eventTypes)
	if m := event.Get("message"); m != nil && m.Kind() != codec.String {
		c.fail("message", "must be a text")
	}
	kind := event.Get("event_type").Str()
	if kind == runStatus {
		c.oneOf("status", words(run.Statuses))
		return c.err
	}
	c.oneOf("stage_id", words(run.Stages))
	switch kind {
	case stageStarted:
		c.atLeast("stage_attempt", 1)
		c.text("inputs_digest", func(s string) bool { return s != "" }, "must not be blank")
	case stageFinished:
		c.atLeast("stage_attempt", 1)
		c.oneOf("outcome", outcomes)
		c.atLeast("elapsed_s", 0)
		if event.Get("failure_kind") != nil || event.Get("outcome").Str() == "timed_out" {
			c.oneOf("failure_kind", failureKinds)
		}
		if event.Get("outcome").Str() == "timed_out" && event.Get("failure_kind").Str() != "timeout" {
			c.fail("failure_kind", "must be timeout where the outcome is timed_out")
		}
		if r := event.Get("retryable"); r != nil && r.Kind() != codec.Bool {
			c.fail("retryable", "must be true or false")
		}
	case retryPlanned:
		c.atLeast("from_attempt", 1)
		from, _ := event.Get("from_attempt").Int()
		c.atLeast("to_attempt", from+1)
		c.atLeast("retry_index", 1)
		c.text("change_summary", func(s string) bool { return s != "" }, "must not be blank")
	case watchdogTimeout:
		c.atLeast("timeout_s", 1)
		c.atLeast("elapsed_s", 0)
		c.text("checkpoint_relpath", func(s string) bool { return s != "" }, "must not be blank")
	}
	return c.err
}

func words[T ~string](list []T) []string {
	var out []string
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

type checker struct {
	event *codec.Value
	err   error
}

func (c *checker) fail(field, problem string) {
	if c.err == nil {
		c.err = tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D("path", "$."+field, "value", c.event.Get(field)), "$.%s of the event %s", field, problem)
	}
}

func (c *checker) text(field string, holds func(string) bool, problem string) {
	if v := c.event.Get(field); v.Kind() != codec.String || !holds(strings.TrimSpace(v.Str())) {
		c.fail(field, problem)
	}
}

func (c *checker) oneOf(field string, list []string) {
	c.text(field, func(s string) bool { return slices.Contains(list, s) }, "must be one of "+strings.Join(list, ", "))
}

func (c *checker) atLeast(field string, least int64) {
	if n, ok := c.event.Get(field).Int(); !ok || n < least {
		c.fail(field, fmt.Sprintf("must be a whole number of at least %d", least))
	}
}
