package cli

import "github.com/tidegate/tidegate/report"

// Show prints a report in the named format, and ends the command with the
// status of a judgement that did not pass when the report failed.
func (i Invocation) Show(r report.Report, format string) error {
	if err := i.render(r, format); err != nil {
		return err
	}
	if r.Status == report.Fail {
		return exitStatus(statusNotPassed)
	}
	return nil
}
