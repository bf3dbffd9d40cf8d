// Package reporting reads the report of a run with all that stands below it: its sources,
// sentences, decisions, and the questions that it leaves open.
package reporting
