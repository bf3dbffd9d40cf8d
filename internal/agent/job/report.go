package job

import (
	"github.com/tidegate/tidegate/internal/base/report"
)

// Table shows jobs to a person.
func Table(jobs []Job) *report.Table {
	table := report.NewTable("Job", "State", ">Attempt", ">Tries left", "Held by", "Title")
	for _, j := range jobs {
		holder := ""
		if j.Holder != nil {
			holder = *j.Holder
		}
		status := report.None
		switch j.State {
		case Accepted:
			status = report.Pass
		case Exhausted:
			status = report.Fail
		}
		table.Row(status, j.ID, string(j.State), j.Attempt, j.TriesLeft, holder, j.Title)
	}
	return table
}
