package temporal

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/tidegate/tidegate"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// The encodings of payloads that codec makes.
const (
	encodingGzip      = "binary/tidegate-gzip"
	encodingEncrypted = "binary/tidegate-aes-gcm"
	metadataKey       = "tidegate-key" // which key, by its digest
)

// keyFlag stands in every error about keys. It is how a home knows one that comes
// from a worker, as words alone.
const keyFlag = "--payload-key"

const (
	compressFrom = 1 << 10  // bytes; smaller payloads gain nothing
	maxPayload   = 64 << 20 // bytes of a message once decompressed: what a worker sends is not trusted
)

// codec compresses payloads and, with keys, encrypts them. With keys it reads
// nothing that is not encrypted, so that a server cannot slip in tasks or answers
// of its own.
type codec struct {
	keys []key // the first encrypts, all decrypt
}

type key struct {
	id   string
	aead cipher.AEAD
}

var _ converter.PayloadCodec = codec{}

// parseKeys reads the keys of a file: 32 bytes each, in base64 or hexadecimal, one
// a line. It returns INVALID_ARGS, and never shows what the file holds.
func parseKeys(path string, data []byte) ([]key, error) {
	var keys []key
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		secret, err := hex.DecodeString(line)
		if err != nil {
			secret, err = base64.StdEncoding.DecodeString(line)
		}
		if err != nil || len(secret) != 32 {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("payload-key", path, "line", i+1),
				"line %d of %s is not a key: expected 32 bytes in base64 or hexadecimal, as `openssl rand -base64 32` prints them", i+1, path)
		}
		block, err := aes.NewCipher(secret)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256(secret)
		keys = append(keys, key{hex.EncodeToString(digest[:4]), aead})
	}
	if len(keys) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("payload-key", path), "%s holds no key; `openssl rand -base64 32` makes one", path)
	}
	return keys, nil
}

// Encode compresses payloads, then encrypts them where there is a key.
func (c codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		packed, err := compressed(p)
		if err != nil {
			return nil, err
		}
		if out[i], err = c.encrypted(packed); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Decode reverses Encode.
func (c codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	room := maxPayload // for all of them together
	for i, p := range payloads {
		plain, err := c.decrypted(p)
		if err != nil {
			return nil, err
		}
		if out[i], err = decompressed(plain, room); err != nil {
			return nil, err
		}
		room -= len(out[i].GetData())
	}
	return out, nil
}

func encodingOf(p *commonpb.Payload) string {
	return string(p.GetMetadata()[converter.MetadataEncoding])
}

func compressed(p *commonpb.Payload) (*commonpb.Payload, error) {
	if len(p.GetData()) < compressFrom {
		return p, nil
	}
	data, err := proto.Marshal(p)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encodingGzip)}, Data: b.Bytes()}, nil
}

func decompressed(p *commonpb.Payload, room int) (*commonpb.Payload, error) {
	if encodingOf(p) != encodingGzip {
		return p, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(p.GetData()))
	if err != nil {
		return nil, fmt.Errorf("a compressed payload cannot be read: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(max(0, room))+1))
	if err != nil {
		return nil, fmt.Errorf("a compressed payload cannot be read: %w", err)
	}
	if len(data) > room {
		return nil, fmt.Errorf("compressed payloads have more than %d bytes", maxPayload)
	}
	out := &commonpb.Payload{}
	return out, proto.Unmarshal(data, out)
}

func (c codec) encrypted(p *commonpb.Payload) (*commonpb.Payload, error) {
	if len(c.keys) == 0 {
		return p, nil
	}
	data, err := proto.Marshal(p)
	if err != nil {
		return nil, err
	}
	k := c.keys[0]
	nonce := make([]byte, k.aead.NonceSize(), k.aead.NonceSize()+len(data)+k.aead.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return &commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encodingEncrypted), metadataKey: []byte(k.id)},
		Data:     k.aead.Seal(nonce, nonce, data, []byte(encodingEncrypted)),
	}, nil
}

func (c codec) decrypted(p *commonpb.Payload) (*commonpb.Payload, error) {
	switch is := encodingOf(p) == encodingEncrypted; {
	case len(c.keys) == 0 && !is:
		return p, nil
	case len(c.keys) == 0:
		return nil, fmt.Errorf("a payload is encrypted with the key %s, and none was named: %s names the file", shown(string(p.GetMetadata()[metadataKey])), keyFlag)
	case !is:
		return nil, fmt.Errorf("a payload is not encrypted, although a key was named: every home and worker of the queue needs the same %s", keyFlag)
	}
	id := string(p.GetMetadata()[metadataKey])
	for _, k := range c.keys {
		if k.id != id || len(p.GetData()) < k.aead.NonceSize() {
			continue
		}
		nonce, sealed := p.GetData()[:k.aead.NonceSize()], p.GetData()[k.aead.NonceSize():]
		data, err := k.aead.Open(nil, nonce, sealed, []byte(encodingEncrypted))
		if err != nil {
			return nil, fmt.Errorf("a payload was changed, or was not encrypted with the key %s of %s", id, keyFlag)
		}
		out := &commonpb.Payload{}
		return out, proto.Unmarshal(data, out)
	}
	return nil, fmt.Errorf("a payload is encrypted with the key %s, which the file of %s does not hold", shown(id), keyFlag)
}
