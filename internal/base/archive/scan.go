package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// errDamaged says that a record cannot be read although others follow it.
var errDamaged = errors.New("the archive is damaged")

// scan reads the records of an archive of the given size from an offset on,
// hands each over without its block, and returns where the last complete one
// ends. What a killed process left there in part is not an error; a record that
// cannot be read although one that counts follows is errDamaged.
func scan(ctx context.Context, file io.ReaderAt, from, size int64, each func(*record), counts func(digest string) bool) (int64, error) {
	in := takeMembers(ctx, file, from, size)
	defer in.giveBack()
	for in.at < size {
		start := in.at
		rec, err := in.next(false)
		if ctx.Err() != nil {
			return start, ctx.Err()
		}
		if err == nil {
			rec.Ref, err = in.refSince(start)
		}
		if err != nil {
			return start, damage(ctx, file, start, size, counts, err)
		}
		each(rec)
	}
	return in.at, nil
}

// damage is nil when no record that counts follows the fault at an offset, so
// that what is there can only be what a killed process left.
func damage(ctx context.Context, file io.ReaderAt, start, size int64, counts func(digest string) bool, fault error) error {
	// The header that our records begin with, up to the byte for the level.
	mark := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0}
	const most = 1000 // places that look like a record, before they look like a trap
	found, next := 0, takeMembers(ctx, file, start, size)
	defer next.giveBack()
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
				if ref, err := next.refSince(at + int64(i)); err != nil || counts(ref.Digest) {
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

// members reads gzip members one after the other. It takes much memory, and uses it
// again for each.
type members struct {
	at   int64 // the offset that was read up to
	ctx  context.Context
	file io.ReaderAt
	size int64

	in     *bufio.Reader // the file
	gz     *gzip.Reader
	header *bufio.Reader // a record
	block  *bufio.Reader // its block
	buffer []byte
}

var membersPool = sync.Pool{New: func() any {
	return &members{
		in: bufio.NewReaderSize(nil, 16<<10), gz: &gzip.Reader{},
		header: bufio.NewReaderSize(nil, 4<<10), block: bufio.NewReaderSize(nil, 4<<10), buffer: make([]byte, 16<<10),
	}
}}

func takeMembers(ctx context.Context, file io.ReaderAt, from, size int64) *members {
	m := membersPool.Get().(*members)
	m.ctx, m.file, m.size = ctx, file, size
	m.seek(from)
	return m
}

func (m *members) giveBack() {
	m.ctx, m.file = nil, nil
	for _, reader := range []*bufio.Reader{m.in, m.header, m.block} {
		reader.Reset(nil)
	}
	membersPool.Put(m)
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

// refSince is the place of the record that begins at an offset and has just been
// read.
func (m *members) refSince(start int64) (Ref, error) {
	hash := sha256.New()
	_, err := io.CopyBuffer(hash, io.NewSectionReader(m.file, start, m.at-start), m.buffer)
	return Ref{start, m.at - start, codec.DigestOf(hash)}, err
}

// next reads one record, which is one member.
func (m *members) next(whole bool) (*record, error) {
	if err := m.gz.Reset(m); err != nil {
		return nil, err
	}
	m.gz.Multistream(false)
	m.header.Reset(io.LimitReader(m.gz, maxRecord))
	rec, err := m.readRecord(whole)
	if err != nil {
		return nil, err
	}
	if _, err := m.gz.Read(m.buffer[:1]); err != io.EOF {
		return nil, errors.New("a member must hold one record and nothing else")
	}
	return rec, nil
}
