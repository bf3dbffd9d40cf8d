package web

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

type logView struct {
	cut
	Rows []logRow
}

// logRow is one line of the log.
type logRow struct {
	Number int
	At     string
	Event  string
	By     string
	What   string
	Job    string
}

func logRows(entries []run.Entry) []logRow {
	var rows []logRow
	for _, e := range entries {
		row := logRow{Number: e.Number, At: moment(e.Entry.Get("ts").Str()), Event: string(e.Event), By: string(e.Actor), Job: e.Entry.Get("job_id").Str()}
		if row.Event == "" {
			row.Event = e.Entry.Get("kind").Str()
		}
		var what []string
		for _, key := range []string{"from", "to", "gate", "status", "wave", "limit", "progress", "holder", "reader", "outcome", "accepted", "reason"} {
			switch v := e.Entry.Get(key); v.Kind() {
			case codec.String:
				if v.Str() != "" {
					what = append(what, key+" "+short(300, v.Str()))
				}
			case codec.Bool:
				what = append(what, key+" "+strconv.FormatBool(v.Bool()))
			}
		}
		if files := e.Entry.Get("files").Members(); e.Event == run.EventFiles && len(files) > 0 {
			what = append(what, report.Counted(len(files), "file")+", by their digests")
		}
		row.What = joined(what)
		rows = append(rows, row)
	}
	return rows
}

// logPage shows the log, the newest line first.
func (l *visit) logPage(query url.Values) (*page, error) {
	rows := logRows(l.entries)
	if q := query.Get("q"); q != "" {
		rows = slices.DeleteFunc(rows, func(r logRow) bool { return !matches(q, r.Event, r.What, r.Job, r.By) })
	}
	slices.Reverse(rows)
	view := logView{cut: cutAt(query, len(rows), l.size, l.link("log", l.id))}
	view.Rows = piece(view.cut, rows)
	return l.page("log", "Log", view), nil
}
