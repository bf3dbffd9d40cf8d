package foreign

import (
	"slices"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/page"
)

// mostForAgent is how many bytes of a result an agent is handed, and mostQuoted how many of a
// text in it.
const (
	mostForAgent = 8 << 10
	mostQuoted   = 600
)

// ForAgent is the result as an agent is handed it, which has to read all of it: the counts,
// and of sentences, sources and findings the worst as far as there is room. What is left out
// stands in the file of the audit.
func (r Result) ForAgent() Result {
	if sizeOf(r) <= mostForAgent {
		return r
	}
	out := r
	out.Audited.Name, out.Compared = page.CutBytes(r.Audited.Name, mostQuoted), nil
	out.Citations, out.Sentences, out.Sources, out.Findings = []Citation{}, []Judged{}, []Source{}, []Finding{}
	room := mostForAgent - sizeOf(out) - 100
	fits := func(v any, most int) bool {
		n := sizeOf(v) + 1
		if n > room-most {
			return false
		}
		room -= n
		return true
	}
	rest := room / 4 // of which sources and findings have what is theirs
	for _, i := range r.worst() {
		if s := r.Sentences[i].brief(); fits(s, rest) {
			out.Sentences = append(out.Sentences, s)
		}
	}
	for _, f := range r.Findings {
		if f.Text = page.CutBytes(f.Text, mostQuoted); f.Level != claim.Remark && fits(f, 0) {
			out.Findings = append(out.Findings, f)
		}
	}
	for _, s := range r.Sources {
		if s.Title = page.CutBytes(s.Title, mostQuoted); s.Status != string(source.Valid) && fits(s, 0) {
			out.Sources = append(out.Sources, s)
		}
	}
	out.LeftOut = len(r.Sentences) + len(r.Sources) + len(r.Findings) - len(out.Sentences) - len(out.Sources) - len(out.Findings)
	return out
}

// brief is a sentence with the words of its first passage that matter.
func (s Judged) brief() Judged {
	if len(s.Windows) > 0 {
		w := s.Windows[0]
		w.Text = around(w.Text, s.key())
		s.Windows = []Window{w}
	}
	s.Text = page.CutBytes(s.Text, mostQuoted)
	s.URLs = slices.Clone(s.URLs[:min(len(s.URLs), manySources)])
	return s
}

func sizeOf(v any) int {
	data, err := codec.Marshal(v)
	if err != nil {
		return mostForAgent + 1
	}
	return len(data)
}
