package artifact

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// ReadFile reads the file at path, which the caller was given as the argument
// arg. It follows symbolic links and never waits for a FIFO.
//
// It returns NOT_FOUND when nothing is there or the path leads through
// something that is not a folder, and READ_FAILED for a folder, a FIFO, a device,
// a socket, or lack of permission. It returns PATH_NOT_ALLOWED outside the
// folders of [Within].
func (r Reach) ReadFile(arg, path string) ([]byte, error) {
	f, err := r.OpenFile(arg, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAll(f)
	return data, place{arg, path}.unreadable(err)
}

// MaxDocument is how many bytes a JSON document may have: far more than any useful
// one has, and few enough for the memory of every machine.
const MaxDocument = 64 << 20

// ReadDocument is [Reach.ReadFile] for a JSON document. One of more than 64 MiB is
// INVALID_JSON, and not read.
func (r Reach) ReadDocument(arg, path string) ([]byte, error) {
	f, err := r.OpenFile(arg, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return place{arg, path}.readDocument(f)
}

// readDocument reads the JSON document at p, which is open as f.
func (p place) readDocument(f *os.File) ([]byte, error) {
	if info, err := f.Stat(); err == nil && info.Size() > MaxDocument {
		return nil, tidegate.Errorf(tidegate.InvalidJSON, p.details(),
			"%s has %d MiB, and a JSON document may have %d", filepath.Base(p.path), info.Size()>>20, MaxDocument>>20)
	}
	data, err := readAll(f)
	return data, p.unreadable(err)
}

// ReadJSON reads the JSON document at path as [Reach.ReadDocument] does. It also returns
// INVALID_JSON for what is not JSON.
func (r Reach) ReadJSON(arg, path string) (*codec.Value, error) {
	data, err := r.ReadDocument(arg, path)
	if err != nil {
		return nil, err
	}
	return codec.ParseFile(arg, path, data)
}

// OpenFile opens what [Reach.ReadFile] reads, for a caller that reads in pieces. It
// returns the same errors.
func (r Reach) OpenFile(arg, path string) (*os.File, error) {
	p := place{arg, path}
	f, err := r.openPath(p)
	if err != nil {
		return nil, p.unreadable(err)
	}
	return f, nil
}

// Until is r as long as ctx lasts. Then reading ends with the error of ctx, so
// that a long file does not delay a call that nobody waits for any more.
func Until(ctx context.Context, r io.Reader) io.Reader { return &untilReader{ctx, r} }

type untilReader struct {
	ctx context.Context
	r   io.Reader
}

func (u *untilReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// regular closes f and fails when f is not a regular file; the descriptor is
// asked, because the name may have changed hands.
func regular(f *os.File) error {
	info, err := f.Stat()
	switch {
	case err == nil && info.Mode().IsRegular():
		return nil
	case err == nil && info.IsDir():
		err = errIsFolder
	case err == nil:
		err = errNotRegular
	}
	f.Close()
	return err
}

// readAll reads f to its end into a buffer of its size.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}
