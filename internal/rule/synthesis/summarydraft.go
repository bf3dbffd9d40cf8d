package synthesis

import (
	"bytes"
	"cmp"
	"io"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// SummaryDraft is what a wave output offers for a summary: its findings, those that
// carry a citation and the others, and the citations of its sources. Each line
// is one list item.
type SummaryDraft struct {
	cited, plain, sources queue
	left                  LeftOut

	leadIn, leadCID string // of the list that may follow
	led             bool   // an item has it
}

// LeftOut counts what a generated summary leaves out of its output.
type LeftOut struct {
	Findings  int // did not fit
	Emptied   int // findings of which nothing was left without URLs and citations
	Sources   int // whose citation did not fit
	Unmapped  int // sources that the pool does not map to a validated citation
	URLs      int // removed from findings, because the pool does not map them
	Citations int // removed from findings, because the pool does not have them
}

// SummaryWriter makes drafts, one after the other.
type SummaryWriter struct {
	Pool    *source.Pool
	scanner markdown.Scanner
}

type outputSection byte

const (
	inFindings outputSection = iota
	inSources
	inGaps
)

// Read makes a draft of an output, for a summary of at most limit bytes. The
// only errors are those of r.
func (w *SummaryWriter) Read(r io.Reader, limit int) (*SummaryDraft, error) {
	d := &SummaryDraft{cited: newQueue(limit), plain: newQueue(limit), sources: newQueue(limit)}
	carrier := carrier{pool: w.Pool}
	in := inFindings
	listed := map[string]bool{}
	_, err := w.scanner.Scan(r, markdown.Events{
		Heading: func(h markdown.Heading) bool {
			d.introduced()
			switch strings.ToLower(string(h.Text)) {
			case "sources":
				in = inSources
			case "gaps":
				in = inGaps
			default:
				in = inFindings
			}
			return false
		},
		Passage: func(p markdown.Passage) {
			switch {
			case in == inFindings:
				text, cid := carrier.carry(p.Text)
				d.passage(p.Item, text, cid, carrier.clean)
			case in == inSources && p.Item:
				d.source(w.Pool, p.Text, listed)
			}
		},
	})
	d.introduced()
	d.left.URLs, d.left.Citations = carrier.urls, carrier.citations
	return d, err
}

// maxLeadIn is how many bytes stand before each item at most.
const maxLeadIn = 300

// passage takes a passage of the findings. What introduces a list stands before each of its
// items, which are read alone; the items of a list within an item have that of the list. Clean
// says what a summary may hold.
func (d *SummaryDraft) passage(item bool, text []byte, cid string, clean func([]byte) bool) {
	leads := !item && len(text) <= maxLeadIn && (bytes.HasSuffix(text, []byte(":")) || bytes.HasSuffix(text, []byte("：")))
	switch {
	case leads:
		d.introduced()
		d.leadIn, d.leadCID = string(text), cid
	case item && d.leadIn != "" && len(text) > 0:
		if led := append([]byte(d.leadIn+" "), text...); clean(led) {
			d.led, text, cid = true, led, cmp.Or(cid, d.leadCID)
		}
		d.finding(text, cid)
	default:
		if !item {
			d.introduced()
		}
		d.finding(text, cid)
	}
}

// introduced ends what a lead-in introduces. Without a list it is a finding of its own.
func (d *SummaryDraft) introduced() {
	if d.leadIn != "" && !d.led {
		d.finding([]byte(d.leadIn), d.leadCID)
	}
	d.leadIn, d.leadCID, d.led = "", "", false
}

func (d *SummaryDraft) finding(text []byte, cid string) {
	switch {
	case len(text) == 0:
		d.left.Emptied++
	case cid != "":
		d.cited.add(string(text))
	default:
		d.plain.add(string(text))
	}
}

// source notes the first citation that a source carries.
func (d *SummaryDraft) source(pool *source.Pool, text []byte, listed map[string]bool) {
	_, cid := (&carrier{pool: pool}).carry(text)
	switch {
	case cid == "":
		d.left.Unmapped++
	case !listed[cid]:
		listed[cid] = true
		d.sources.add("[@" + cid + "]")
	}
}

// Empty reports whether the output yielded no text at all.
func (d *SummaryDraft) Empty() bool {
	return d.cited.total == 0 && d.plain.total == 0 && d.sources.total == 0
}

// Whole is the summary that needs no agent: the findings, each of them, within limit bytes,
// without the list of sources. It is nil where one does not fit or is left empty, and where
// the pool has sources of the output and no finding carries one.
func (d *SummaryDraft) Whole(limit int) []byte {
	found := *d
	found.sources = queue{}
	text, left := found.compose(limit)
	if left.Findings > 0 || left.Emptied > 0 || d.cited.total == 0 && d.sources.total > 0 {
		return nil
	}
	return text
}

const sourcesHeading = "## Sources\n\n"

// compose writes the summary line by line, skipping each line that does not fit
// into limit bytes.
func (d *SummaryDraft) compose(limit int) ([]byte, LeftOut) {
	var out []byte
	add := func(q *queue, heading string) (omitted int) {
		added := 0
		for _, line := range q.lines {
			item := heading + "- " + line + "\n"
			if len(out)+len(item) > limit {
				continue
			}
			out, heading = append(out, item...), ""
			added++
		}
		return q.total - added
	}
	left := d.left
	left.Findings = add(&d.cited, "") + add(&d.plain, "")
	heading := sourcesHeading
	if len(out) > 0 {
		heading = "\n" + heading
	}
	left.Sources = add(&d.sources, heading)
	return out, left
}

// queue holds the lines from which a summary of at most limit bytes can be made.
// Lines are taken in order and skipped when they do not fit, so that of lines of
// one length only the first ones ever fit: the others need not be kept.
type queue struct {
	limit int
	lines []string
	held  map[int]int // lines by length
	total int         // lines that came
}

func newQueue(limit int) queue { return queue{limit: limit, held: map[int]int{}} }

func (q *queue) add(line string) {
	q.total++
	size := len("- \n") + len(line)
	if q.held[size]++; q.held[size]*size <= q.limit {
		q.lines = append(q.lines, line)
	}
}
