package temporal

import (
	"encoding/json"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// maxInline is how many bytes a payload may have in the messages of the server,
// which refuses 2 MB, and only after the work was done and paid.
const maxInline = 1_400_000

// parcels knows how large messages are on the wire.
type parcels struct {
	converter converter.DataConverter
	stored    bool // larger ones go through the storage
}

// fits reports whether a message can be sent, and its size.
func (p parcels) fits(message any) (bool, int, error) {
	if p.stored {
		return true, 0, nil
	}
	data, err := json.Marshal(message)
	if err != nil || len(data) < maxInline/2 { // what encryption adds is less than that
		return err == nil, len(data), err
	}
	payload, err := p.converter.ToPayload(message)
	if err != nil {
		return false, 0, err
	}
	size := proto.Size(payload)
	return size <= maxInline, size, nil
}

// pack makes an answer fit: it leaves out events from the end, and an answer that
// does not fit even without them becomes a failure, because the server would
// refuse it after the work.
func (p parcels) pack(m *answerMessage) error {
	for {
		fits, size, err := p.fits(m)
		if err != nil || fits {
			return err
		}
		if n := len(m.Events); n > 0 {
			m.Events = m.Events[:n/2]
			m.Cut += n - n/2
			continue
		}
		m.Bytes = nil
		m.Answer = driver.Answer{Usage: m.Answer.Usage, CostUSD: m.Answer.CostUSD, Version: m.Answer.Version}
		m.Error = &driver.Error{Kind: driver.Flood, Message: fmt.Sprintf("the answer has %d bytes as a message; at most %d are allowed without --storage", size, maxInline)}
	}
}

// shown is what a message quotes of the words of another program.
func shown(words string) string { return tidegate.Cut(markdown.Show(words)) }
