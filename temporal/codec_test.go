package temporal

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"
)

func keysOf(t *testing.T, secrets ...byte) []key {
	t.Helper()
	var lines []string
	for _, b := range secrets {
		lines = append(lines, hex.EncodeToString(bytes.Repeat([]byte{b}, 32)))
	}
	keys := must.Get(parseKeys("payload.key", []byte(strings.Join(lines, "\n"))))(t)
	return keys
}

func payloadOf(text string) *commonpb.Payload {
	return &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte("json/plain")}, Data: []byte(text)}
}

func TestCodec(t *testing.T) {
	secret := "the harbour asks " + strings.Repeat("about tugs ", 10_000)
	for _, test := range []struct {
		name         string
		wrote, reads []key
		fault        string // "" for none
	}{
		{"no key", nil, nil, ""},
		{"the same key", keysOf(t, 1), keysOf(t, 1), ""},
		{"a key that was replaced", keysOf(t, 1), keysOf(t, 2, 1), ""},
		{"another key", keysOf(t, 1), keysOf(t, 2), "does not hold"},
		{"the key is missing", keysOf(t, 1), nil, "--payload-key names the file"},
		{"not encrypted", nil, keysOf(t, 1), "is not encrypted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, text := range []string{"", "short", secret} {
				plain := payloadOf(text)
				sent := must.Get(codec{test.wrote}.Encode([]*commonpb.Payload{plain}))(t)
				if len(text) > compressFrom && proto.Size(sent[0]) > len(text)/10 {
					t.Errorf("%d bytes were sent as %d", len(text), proto.Size(sent[0]))
				}
				if test.wrote != nil && text != "" && bytes.Contains(sent[0].GetData(), []byte(text[:5])) {
					t.Error("the server can read it")
				}
				got, err := codec{test.reads}.Decode(sent)
				if test.fault != "" {
					if err == nil || !strings.Contains(err.Error(), test.fault) {
						t.Errorf("error %v, want %q", err, test.fault)
					}
				} else if err != nil || !proto.Equal(got[0], plain) {
					t.Errorf("%v; the payload is not what was sent", err)
				}
			}
		})
	}
}

func TestCodecNoticesChanges(t *testing.T) {
	keys := keysOf(t, 1)
	sent := must.Get(codec{keys}.Encode([]*commonpb.Payload{payloadOf("an answer")}))(t)
	for i := range sent[0].Data {
		changed := proto.Clone(sent[0]).(*commonpb.Payload)
		changed.Data[i] ^= 1
		if _, err := (codec{keys}).Decode([]*commonpb.Payload{changed}); err == nil {
			t.Fatalf("byte %d was changed, and nobody noticed", i)
		}
	}
}

func TestCodecRefusesBombs(t *testing.T) {
	bomb := must.Get(compressed(payloadOf(strings.Repeat("\x00", maxPayload+1))))(t)
	if _, err := (codec{}).Decode([]*commonpb.Payload{bomb}); err == nil {
		t.Errorf("%d bytes became more than %d", len(bomb.Data), maxPayload)
	}
}

// TestManySmallBombs sends what is small enough alone, and too much together.
func TestManySmallBombs(t *testing.T) {
	part := must.Get(compressed(payloadOf(strings.Repeat("\x00", maxPayload/4))))(t)
	if _, err := (codec{}).Decode(slices.Repeat([]*commonpb.Payload{part}, 3)); err != nil {
		t.Error(err)
	}
	if _, err := (codec{}).Decode(slices.Repeat([]*commonpb.Payload{part}, 5)); err == nil {
		t.Errorf("5 times %d bytes became more than %d", len(part.Data), maxPayload)
	}
}

// TestCausesOfAFailure reads a failure with more causes than anybody looks at.
func TestCausesOfAFailure(t *testing.T) {
	connection := failures{temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{})}
	failure := func(causes int) *failurepb.Failure {
		var f *failurepb.Failure
		for i := range causes + 1 {
			f = &failurepb.Failure{Message: fmt.Sprint(i), Cause: f, FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{}}}
		}
		return f
	}
	for causes, want := range map[int]int{0: 0, 3: 3, maxCauses: maxCauses, 5000: maxCauses} {
		got := -1
		for err := connection.FailureToError(failure(causes)); err != nil; err = errors.Unwrap(err) {
			got++
		}
		if got != want {
			t.Errorf("of %d causes %d were read, want %d", causes, got, want)
		}
	}
}

func TestKeysAreNeverShown(t *testing.T) {
	for _, text := range []string{"", "\n\n", "hunter2hunter2", "c2hvcnQ=", strings.Repeat("ab", 31)} {
		_, err := parseKeys("payload.key", []byte(text))
		if err == nil {
			t.Errorf("%q was taken as a key", text)
		} else if secret := strings.TrimSpace(text); secret != "" && strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

func TestAnswersThatAreTooLarge(t *testing.T) {
	noise := func(n int) string { // does not compress
		var b strings.Builder
		state := uint64(1)
		for b.Len() < n {
			state = state*6364136223846793005 + 1442695040888963407
			b.WriteString(hex.EncodeToString([]byte{byte(state >> 56), byte(state >> 48), byte(state >> 40)}))
		}
		return b.String()
	}
	large := noise(4 << 20)
	plain := parcels{converter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec{})}
	for _, test := range []struct {
		name   string
		parcel parcels
		text   string
		events int
		kept   bool // the text
		cut    bool // some events
	}{
		{"small", plain, "an answer", 3, true, false},
		{"large and compressible", plain, strings.Repeat("tugs ", 1_000_000), 3, true, false},
		{"too many events", plain, "an answer", 200, true, true},
		{"too large", plain, large, 0, false, false},
		{"too large, with events", plain, large, 3, false, true},
		{"too large, with a storage", parcels{plain.converter, true}, large, 200, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &answerMessage{Version: Version, Answer: driver.Answer{Text: test.text, Usage: &driver.Usage{Input: 7}}}
			for range test.events {
				m.Events = append(m.Events, driver.Event{Kind: driver.Other, Raw: large[len(m.Events)*20_000:][:20_000]})
			}
			must.Do(t, test.parcel.pack(m))
			if kept := m.Answer.Text == test.text; kept != test.kept || kept == (m.Error != nil) {
				t.Errorf("text kept: %v, want %v; error %v", kept, test.kept, m.Error)
			}
			if m.Error != nil && (m.Error.Kind != driver.Flood || m.Answer.Usage == nil) {
				t.Errorf("the failure is %v, the usage %v", m.Error, m.Answer.Usage)
			}
			if (m.Cut > 0) != test.cut || m.Cut+len(m.Events) != test.events {
				t.Errorf("%d of %d events were cut", m.Cut, test.events)
			}
			if fits, size, err := test.parcel.fits(m); !fits || err != nil {
				t.Errorf("%d bytes do not fit: %v", size, err)
			}
		})
	}
}

func TestConnectionOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"a certificate without its key": {TLSCert: "cert.pem"},
		"an API key without TLS":        {APIKeyText: "secret-key"},
		"no such payload key":           {PayloadKey: "/nowhere/payload.key"},
		"no such API key":               {TLS: true, APIKey: "/nowhere/api.key"},
		"no storage":                    {Storage: "bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Connect(context.Background(), o)
			if err == nil || strings.Contains(err.Error(), "secret-key") {
				t.Errorf("error %v", err)
			}
		})
	}
}
