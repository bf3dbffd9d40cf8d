package pivot

import (
	"strconv"
	"unicode/utf8"

	"github.com/tidegate/tidegate/codec"
)

// digest covers everything that decides, and nothing else: no time, no order of
// arguments. It is codec.Digest of the object {"gaps","wave1_validation_reports"};
// the reports have passed the preconditions.
// The canonical form is written here at once, with the keys in their order,
// because the general way, which writes, reads and sorts, would take longer than
// reading the outputs.
func digest(gaps []Gap, reports []Report) string {
	c := canonical(make([]byte, 0, 256*(len(gaps)+len(reports))))
	c.raw(`{"gaps":[`)
	for i, g := range gaps {
		c.separate(i)
		c.raw(`{`)
		if g.From != "" {
			c.raw(`"from_perspective_id":`)
			c.text(g.From)
			c.raw(`,`)
		}
		c.raw(`"gap_id":`)
		c.text(g.ID)
		c.raw(`,"priority":`)
		c.text(g.Priority)
		c.raw(`,"source":`)
		c.text(g.Source)
		c.raw(`,"tags":[`)
		for i, tag := range g.Tags {
			c.separate(i)
			c.text(tag)
		}
		c.raw(`],"text":`)
		c.text(g.Text)
		c.raw(`}`)
	}
	c.raw(`],"wave1_validation_reports":[`)
	for i, r := range reports {
		c.separate(i)
		c.raw(`{"markdown_path":`)
		c.text(r.MarkdownPath)
		c.raw(`,"missing_sections":[],"ok":true,"perspective_id":`)
		c.text(r.PerspectiveID)
		c.raw(`,"sources":`)
		c.number(r.Sources)
		c.raw(`,"words":`)
		c.number(r.Words)
		c.raw(`}`)
	}
	c.raw(`]}`)
	return codec.DigestBytes(c)
}

// canonical is text in the form of RFC 8785 under construction.
type canonical []byte

func (c *canonical) raw(text string) { *c = append(*c, text...) }

// separate begins the i-th element of a list.
func (c *canonical) separate(i int) {
	if i > 0 {
		c.raw(",")
	}
}

func (c *canonical) text(s string) {
	for i := range len(s) {
		if b := s[i]; b < ' ' || b == '"' || b == '\\' || b >= utf8.RuneSelf {
			c.value(s)
			return
		}
	}
	*c = append(append(append(*c, '"'), s...), '"')
}

func (c *canonical) number(f float64) {
	if n := int64(f); float64(n) == f && n < 1<<53 {
		*c = strconv.AppendInt(*c, n, 10)
		return
	}
	c.value(f)
}

// value appends what is neither plain text nor a small integer.
func (c *canonical) value(v any) {
	text, err := codec.Canonical(v)
	if err != nil {
		panic("pivot: " + err.Error()) // a string or a finite number
	}
	*c = append(*c, text...)
}
