package claim

import "slices"

// Citable reports whether an id reads as itself between [@ and ]: it must end where
// the citation ends, and bring no raw URL and no markup with it.
func Citable(cid []byte) bool {
	if isPlain(cid) {
		return true
	}
	found := Inspect(slices.Concat([]byte("[@"), cid, []byte("]")))
	return len(found.URLs) == 0 && len(found.Mentions) == 1 && found.Mentions[0].Visible && found.Mentions[0].CID == string(cid)
}

// isPlain reports whether an id is one that no markup can change: it is made of
// ASCII letters, digits and single signs between them, as the ids of a pool are.
func isPlain(cid []byte) bool {
	for i, c := range cid {
		switch {
		case c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z':
		case (c == '_' || c == '-') && i > 0 && i+1 < len(cid) && isWordByte(cid[i-1]) && isWordByte(cid[i+1]):
		default:
			return false
		}
	}
	return len(cid) > 0
}

func isWordByte(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
