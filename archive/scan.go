package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
)

// errDamaged says that a record cannot be read although others follow it.
var errDamaged = errors.New("the archive is damaged")

// scan reads the records of an archive of the given size from an offset on,
// hands each over without its block, and returns where the last complete one
// ends. What a killed process left there in part is not an error; a record that
// cannot be read although one that counts follows is errDamaged.
func scan(ctx context.Context, file io.ReaderAt, from, size int64, each func(*record), counts func(digest string) bool) (int64, error) {
	in := newMembers(ctx, file, from, size)
	for in.at < size {
		start := in.at
		rec, err := in.next(false)
		if ctx.Err() != nil {
			return start, ctx.Err()
		}
		if err == nil {
			rec.Ref, err = refTo(file, start, in.at)
		}
		if err != nil {
			return start, damage(ctx, file, start, size, counts, err)
		}
		each(rec)
	}
	return in.at, nil
}

// refTo is the place of the record between two offsets.
func refTo(file io.ReaderAt, start, end int64) (Ref, error) {
	digest, err := codec.DigestReader(io.NewSectionReader(file, start, end-start))
	return Ref{start, end - start, digest}, err
}

// damage is nil when no record that counts follows the fault at an offset, so
// that what is there can only be what a killed process left.
func damage(ctx context.Context, file io.ReaderAt, start, size int64, counts func(digest string) bool, fault error) error {
	// The header that our records begin with, up to the byte for the level.
	mark := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0}
	const most = 1000 // places that look like a record, before they look like a trap
	found, next := 0, newMembers(ctx, file, start, size)
	in := bufio.NewReaderSize(io.NewSectionReader(file, start+1, size-start-1), 64<<10)
	for at := start + 1; ; {
		window, err := in.Peek(in.Size())
		if len(window) < len(mark) {
			return nil
		}
		i := bytes.Index(window, mark)
		if i >= 0 {
			if found++; found > most {
				return fmt.Errorf("%w at byte %d (%w), and what follows looks like a record in too many places", errDamaged, start, fault)
			}
			next.seek(at + int64(i))
			if _, err := next.next(false); err == nil {
				if ref, err := refTo(file, at+int64(i), next.at); err != nil || counts(ref.Digest) {
					return fmt.Errorf("%w at byte %d (%w), and a record that counts follows at byte %d", errDamaged, start, fault, at+int64(i))
				}
			}
			i++
		} else {
			i = len(window) - len(mark) + 1
		}
		in.Discard(i)
		at += int64(i)
		if err != nil && err != io.EOF {
			return err
		}
	}
}

// members reads gzip members one after the other.
type members struct {
	at   int64 // the offset that was read up to
	ctx  context.Context
	file io.ReaderAt
	size int64
	in   *bufio.Reader
	gz   *gzip.Reader
}

func newMembers(ctx context.Context, file io.ReaderAt, from, size int64) *members {
	m := &members{ctx: ctx, file: file, size: size, in: bufio.NewReaderSize(nil, 16<<10), gz: &gzip.Reader{}}
	m.seek(from)
	return m
}

func (m *members) seek(at int64) {
	m.at = at
	m.in.Reset(artifact.Until(m.ctx, io.NewSectionReader(m.file, at, m.size-at)))
}

// Read and ReadByte count what is read, so that the end of a member is known:
// with a ReadByte, gzip reads no further than that.
func (m *members) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	m.at += int64(n)
	return n, err
}

func (m *members) ReadByte() (byte, error) {
	b, err := m.in.ReadByte()
	if err == nil {
		m.at++
	}
	return b, err
}

// next reads one record, which is one member.
func (m *members) next(whole bool) (*record, error) {
	if err := m.gz.Reset(m); err != nil {
		return nil, err
	}
	m.gz.Multistream(false)
	rec, err := readRecord(io.LimitReader(m.gz, maxRecord), whole)
	if err != nil {
		return nil, err
	}
	if _, err := m.gz.Read(make([]byte, 1)); err != io.EOF {
		return nil, errors.New("a member must hold one record and nothing else")
	}
	return rec, nil
}
