package seal_test

import (
	"archive/zip"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"io"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/signing"
)

// TestTheSignatureOfAWebArchiveCannotBeTakenAway: readers of web archives would call what
// somebody signed unsigned.
func TestTheSignatureOfAWebArchiveCannotBeTakenAway(t *testing.T) {
	t.Parallel()
	private, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, signers := signing.With(t, private)
	var whole, stripped bytes.Buffer
	about := codec.Of(tidegate.Pairs("question", "q", "program", "p", "sealed_at", "2026-05-04T12:00:00.000Z"))
	must.Do(t, seal.WriteWACZ(t.Context(), &whole, key, []seal.File{{Name: "a.txt", Data: []byte("a")}}, about))
	must.Get(seal.Open(whole.Bytes(), signers, time.Now()))(t)
	archive := must.Get(zip.NewReader(bytes.NewReader(whole.Bytes()), int64(whole.Len())))(t)
	var files []seal.File
	for _, f := range archive.File {
		in := must.Get(f.Open())(t)
		data := must.Get(io.ReadAll(in))(t)
		files = append(files, seal.File{Name: f.Name, Data: data})
	}
	last := &files[len(files)-1]
	if last.Data, err = codec.MarshalFile(tidegate.Pairs("path", "datapackage.json", "hash", codec.DigestBytes(files[len(files)-2].Data))); err != nil {
		t.Fatal(err)
	}
	must.Do(t, seal.Pack(&stripped, files))
	if _, err := seal.Open(stripped.Bytes(), signers, time.Now()); tidegate.CodeOf(err) != tidegate.Tampered {
		t.Errorf("%s without its signature: %v", last.Name, err)
	}
}
