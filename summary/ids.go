package summary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"
)

// idSet is a set of citation ids that holds little more than their text: about
// 80 bytes for an id of 68. Entries lie one after the other in blocks, and a hash
// table has the place of each.
type idSet struct {
	blocks [][]byte
	table  []idRef // open addressing; a power of two
	count  int
	seed   maphash.Seed
}

// idRef is the place of an entry: the block in the upper bits and the offset in
// the lower ones, plus one, so that 0 is no place.
type idRef uint32

const (
	blockBits = 20
	blockSize = 1 << blockBits
	maxBlocks = 1 << (32 - blockBits)
)

// An entry is one byte for the status, the length, and the text.
const (
	statusPaywalled byte = iota
	statusValid
)

var errTooManyIDs = errors.New("the ids take more than 4 GiB")

// add puts an id into the set and returns its place. An id that was added
// before with another status is valid from then on: one record that says so is
// enough.
func (s *idSet) add(id []byte, status byte) (idRef, error) {
	if 4*(s.count+1) > 3*len(s.table) {
		s.grow()
	}
	slot := s.slot(id)
	if ref := s.table[slot]; ref != 0 {
		entry := s.entry(ref)
		entry[0] = max(entry[0], status)
		return ref, nil
	}
	ref, err := s.store(id, status)
	if err != nil {
		return 0, err
	}
	s.table[slot] = ref
	s.count++
	return ref, nil
}

// find is the place of an id, 0 when it is not in the set.
func (s *idSet) find(id []byte) idRef {
	if s.count == 0 {
		return 0
	}
	return s.table[s.slot(id)]
}

func (s *idSet) text(ref idRef) []byte {
	entry := s.entry(ref)[1:]
	length, n := binary.Uvarint(entry)
	return entry[n : n+int(length) : n+int(length)]
}

func (s *idSet) status(ref idRef) byte { return s.entry(ref)[0] }

// sorted lists the places in byte order of the ids.
func (s *idSet) sorted() []idRef {
	refs := make([]idRef, 0, s.count)
	for _, ref := range s.table {
		if ref != 0 {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(a, b idRef) int { return bytes.Compare(s.text(a), s.text(b)) })
	return refs
}

func (s *idSet) entry(ref idRef) []byte {
	place := uint32(ref) - 1
	return s.blocks[place>>blockBits][place&(blockSize-1):]
}

// slot is where in the table an id is, or where it would go.
func (s *idSet) slot(id []byte) int {
	mask := uint64(len(s.table) - 1)
	for i := maphash.Bytes(s.seed, id) & mask; ; i = (i + 1) & mask {
		if ref := s.table[i]; ref == 0 || bytes.Equal(s.text(ref), id) {
			return int(i)
		}
	}
}

func (s *idSet) grow() {
	old := s.table
	if old == nil {
		s.seed = maphash.MakeSeed()
	}
	s.table = make([]idRef, max(64, 2*len(old)))
	for _, ref := range old {
		if ref != 0 {
			s.table[s.slot(s.text(ref))] = ref
		}
	}
}

func (s *idSet) store(id []byte, status byte) (idRef, error) {
	size := 1 + binary.MaxVarintLen32 + len(id)
	last := len(s.blocks) - 1
	if last < 0 || cap(s.blocks[last])-len(s.blocks[last]) < size {
		if len(s.blocks) == maxBlocks {
			return 0, errTooManyIDs
		}
		// An entry longer than a block gets one of its own: no other begins in
		// it, so that offsets stay small.
		s.blocks = append(s.blocks, make([]byte, 0, max(blockSize, size)))
		last++
	}
	block := s.blocks[last]
	ref := idRef(uint32(last)<<blockBits|uint32(len(block))) + 1
	block = append(block, status)
	block = binary.AppendUvarint(block, uint64(len(id)))
	s.blocks[last] = append(block, id...)
	return ref, nil
}
