package web

import (
	"cmp"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// offer is something that a person can decide about a run as it stands, in plain words.
type offer struct {
	Words string // what it does
	About string // what it is about, as it is now
	Link  string // its form, filled in as far as it can be
}

// mostOffers is how many jobs, sources or sentences of one kind are offered.
const mostOffers = 20

// offers are the decisions that make sense now, what helps first.
func (l *visit) offers() ([]offer, error) {
	m := l.run.Manifest()
	if m.Status().Final() || len(l.site.Decisions) == 0 {
		return nil, nil
	}
	var out []offer
	add := func(name, words, about string, fill ...string) {
		values := url.Values{}
		for i := 0; i+1 < len(fill); i += 2 {
			values.Set(fill[i], fill[i+1])
		}
		out = append(out, offer{words, about, l.link("decide", l.id, name) + queryOf(values)})
	}
	for _, j := range jobsIn(l.board, job.Exhausted) {
		about := l.jobRow(j)
		add("job-retry", "Give “"+short(120, j.Title)+"” its tries again", joined(list(about.Agent, about.Faults)), "job_id", j.ID)
	}
	if m.Status() == run.Failed {
		if err := l.offersOfFailure(m, add); err != nil {
			return nil, err
		}
	}
	if m.Stage() == run.Citations {
		for i := range l.records[:min(len(l.records), 10*mostOffers)] {
			if r := &l.records[i]; !r.Usable() && len(out) < mostOffers {
				add("citations-replace", "Take another page for "+short(120, cmp.Or(r.Title, r.URL)), string(r.Status)+", "+short(200, r.Notes), "cid", r.CID)
			}
		}
	}
	if name, more := l.board.Raised(); name != "" {
		add("run-limit", "Raise "+limitWords(name), limitShown(l.board.Policy().Budget.Of(name))+" → "+limitShown(more), "name", name, "value", limitText(more))
	}
	for _, j := range jobsIn(l.board, job.Leased) {
		add("job-release", "Take “"+short(120, j.Title)+"” away from its agent", l.jobRow(j).Agent+", for "+l.jobRow(j).Took, "job_id", j.ID)
	}
	if m.Status() == run.Paused {
		add("run-resume", "Resume the run", "paused → running")
	} else if m.Status() != run.Failed {
		add("run-pause", "Hold the run", string(m.Status())+" → paused; agents finish nothing more")
	}
	add("run-limit", "Change a limit", joined(l.limitsNow()))
	add("run-cancel", "End the run for good", string(m.Status())+" → cancelled; what is there is kept")
	return out, nil
}

// offersOfFailure are the decisions that remove the reason why a run has stopped.
func (l *visit) offersOfFailure(m run.Manifest, add func(name, words, about string, fill ...string)) error {
	why := ""
	if failures := m.Failures(); len(failures) > 0 {
		last := failures[len(failures)-1]
		why = last.Get("message").Str()
		if id := last.Get("gate_id").Str(); id != "" {
			if id == "E" {
				if err := l.offersOfSentences(add); err != nil {
					return err
				}
			}
			add("gate-"+strings.ToLower(id), "Let gate "+id+" pass as it is", short(300, why), "accept", "yes")
		}
		if tidegate.Code(last.Get("code").Str()) == tidegate.BudgetExhausted {
			return nil // raising the limit is what helps
		}
	}
	add("run-resume", "Let it try again", "failed → running; "+short(300, dispatch.FailureWords(l.board)), "accept", "yes")
	return nil
}

func (l *visit) offersOfSentences(add func(name, words, about string, fill ...string)) error {
	list, err := sentences.ReadClaimList(l.run)
	if tidegate.CodeOf(err) == tidegate.InvalidState {
		return nil // its sentences were not checked
	}
	if err != nil {
		return err
	}
	disputed := list.Disputed().Sentences
	for _, s := range disputed[:min(len(disputed), mostOffers)] {
		add("claim-accept", "Let a sentence stand: “"+short(300, s.Text)+"”", short(300, s.Why), "id", s.ID)
	}
	return nil
}

func jobsIn(board *job.Board, state job.State) []job.Job {
	var out []job.Job
	for _, j := range board.Jobs() {
		if j.State == state && len(out) < mostOffers {
			out = append(out, j)
		}
	}
	return out
}

// limitWords are the limits that people set, in words.
func limitWords(name string) string {
	words := map[string]string{"max_minutes": "the time in minutes", "max_tokens": "the tokens", "max_cost_usd": "the cost in USD", "max_mb": "the size of the folder in MB"}
	return cmp.Or(words[name], name)
}

// limitShown is a limit as people read it, limitText as they type it.
func limitShown(value float64) string {
	if value >= 1000 {
		return number(value)
	}
	return limitText(value)
}

func limitText(value float64) string {
	if math.IsInf(value, 1) {
		return "no limit"
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

func (l *visit) limitsNow() []string {
	var out []string
	for _, name := range []string{"max_cost_usd", "max_tokens", "max_minutes", "max_mb"} {
		out = append(out, limitWords(name)+": "+limitShown(l.board.Policy().Budget.Of(name)))
	}
	return out
}

func list(texts ...string) []string {
	var out []string
	for _, t := range texts {
		if t = report.Visible(t); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// queryOf is the query of an address, with its question mark.
func queryOf(values url.Values) string {
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}
