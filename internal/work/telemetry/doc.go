// Package telemetry says what a run did and how long it took. It follows from the
// run's own log: moves, statuses, failures and retries. The tools of the earlier
// system append events of their own to the run; where there are such events, only
// they are counted. Waiting for a person, or for an agent while the run is paused,
// is neither a failure nor time of the run.
package telemetry
