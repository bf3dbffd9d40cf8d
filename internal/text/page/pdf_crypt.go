package page

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
)

// crypt undoes the encryption of files that open without a password: those whose
// authors only forbid printing or changing them.
type crypt struct {
	key              []byte
	streams, strings method
}

// method is how a file is encrypted.
type method uint8

const (
	plain   method = iota
	rivest         // RC4, a key for each object
	aes128         // AES, a key for each object
	aes256         // AES, one key
	unknown        // it needs a password, or is not known
)

// maxEncrypted is how many bytes are decrypted at once.
const maxEncrypted = 1 << 28

var padding = []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")

// newCrypt reads how a file is encrypted. A file that needs a password cannot be
// read.
func (f *pdfFile) newCrypt() *crypt {
	locked := &crypt{streams: unknown, strings: unknown}
	d, ok := f.resolve(f.trailer["Encrypt"]).(dict)
	if !ok || f.resolve(d["Filter"]) != name("Standard") {
		return locked
	}
	number := func(key name) int {
		v, _ := f.resolve(d[key]).(float64)
		return int(v)
	}
	text := func(key name) []byte {
		s, _ := f.resolve(d[key]).(str)
		return []byte(s)
	}
	var id []byte
	if ids := f.list(f.trailer["ID"]); len(ids) > 0 {
		s, _ := f.resolve(ids[0]).(str)
		id = []byte(s)
	}
	c := &crypt{}
	revision := number("R")
	switch version := number("V"); version {
	case 1, 2:
		c.streams, c.strings = rivest, rivest
	case 4, 5:
		filters, _ := f.resolve(d["CF"]).(dict)
		c.streams, c.strings = f.cryptFilter(filters, d["StmF"]), f.cryptFilter(filters, d["StrF"])
	default:
		return locked
	}
	if revision >= 5 {
		c.key = modernKey(text("U"), text("UE"), revision)
	} else {
		length := number("Length") / 8
		if number("V") == 1 || length == 0 {
			length = 5
		}
		if number("V") == 4 {
			length = 16
		}
		meta := f.resolve(d["EncryptMetadata"]) != false
		c.key = oldKey(text("O"), text("U"), id, int32(number("P")), revision, min(max(length, 5), 16), meta)
	}
	if c.key == nil {
		return locked
	}
	return c
}

func (f *pdfFile) cryptFilter(filters dict, o object) method {
	chosen, ok := f.resolve(o).(name)
	if !ok || chosen == "Identity" {
		return plain
	}
	filter, _ := f.resolve(filters[chosen]).(dict)
	switch f.resolve(filter["CFM"]) {
	case name("V2"):
		return rivest
	case name("AESV2"):
		return aes128
	case name("AESV3"):
		return aes256
	case name("None"), nil:
		return plain
	}
	return unknown
}

// oldKey makes the key of a file for the empty password, nil where that is not
// its password.
func oldKey(o, u, id []byte, permissions int32, revision, length int, meta bool) []byte {
	if len(o) < 32 || len(u) < 32 {
		return nil
	}
	h := md5.New()
	h.Write(padding)
	h.Write(o[:32])
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(permissions)))
	h.Write(id)
	if revision >= 4 && !meta {
		h.Write([]byte{0xff, 0xff, 0xff, 0xff})
	}
	key := h.Sum(nil)
	if revision >= 3 {
		for range 50 {
			sum := md5.Sum(key[:length])
			key = sum[:]
		}
	}
	key = key[:length]
	check := bytes.Clone(padding)
	n := 32
	if revision >= 3 {
		sum := md5.Sum(append(bytes.Clone(padding), id...))
		check, n = sum[:], 16
	}
	check = rc4Of(key, check)
	if revision >= 3 {
		for i := byte(1); i <= 19; i++ {
			turned := make([]byte, len(key))
			for k := range key {
				turned[k] = key[k] ^ i
			}
			check = rc4Of(turned, check)
		}
	}
	if !bytes.Equal(check[:n], u[:n]) {
		return nil
	}
	return key
}

func rc4Of(key, data []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		return nil
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}

// modernKey is the key of a PDF 2.0 file for the empty password, nil where that is
// not its password.
func modernKey(u, ue []byte, revision int) []byte {
	if len(u) < 48 || len(ue) < 32 {
		return nil
	}
	hash := func(salt []byte) []byte {
		sum := sha256.Sum256(salt)
		if revision < 6 {
			return sum[:]
		}
		return hardened(sum[:])
	}
	if !bytes.Equal(hash(u[32:40]), u[:32]) {
		return nil
	}
	return cbc(hash(u[40:48]), make([]byte, aes.BlockSize), ue[:32], false)
}

// hardened is algorithm 2.B of ISO 32000-2 for the empty password.
func hardened(k []byte) []byte {
	var e []byte
	for i := 0; i < 64 || int(e[len(e)-1]) > i-32; i++ {
		e = cbc(k[:16], k[16:32], bytes.Repeat(k, 64), true)
		sum := 0
		for _, c := range e[:16] {
			sum += int(c)
		}
		switch sum % 3 {
		case 0:
			s := sha256.Sum256(e)
			k = s[:]
		case 1:
			s := sha512.Sum384(e)
			k = s[:]
		case 2:
			s := sha512.Sum512(e)
			k = s[:]
		}
	}
	return k[:32]
}

// cbc encrypts or decrypts whole blocks with AES.
func cbc(key, iv, data []byte, encrypt bool) []byte {
	block, err := aes.NewCipher(key)
	data = data[:len(data)/aes.BlockSize*aes.BlockSize]
	if err != nil || len(data) == 0 {
		return nil
	}
	out := make([]byte, len(data))
	if encrypt {
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, data)
	} else {
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	}
	return out
}

// decrypt decrypts the data of an object.
func (c *crypt) decrypt(data []byte, r ref, m method) []byte {
	if m == plain {
		return data
	}
	if m == unknown || len(data) > maxEncrypted {
		return nil
	}
	key := c.key
	if m != aes256 {
		h := md5.New()
		h.Write(c.key)
		h.Write([]byte{byte(r.number), byte(r.number >> 8), byte(r.number >> 16), byte(r.generation), byte(r.generation >> 8)})
		if m == aes128 {
			h.Write([]byte("sAlT"))
		}
		key = h.Sum(nil)[:min(len(c.key)+5, 16)]
	}
	if m == rivest {
		return rc4Of(key, data)
	}
	if len(data) < 2*aes.BlockSize {
		return nil
	}
	out := cbc(key, data[:aes.BlockSize], data[aes.BlockSize:], false)
	if n := len(out); n > 0 && int(out[n-1]) <= aes.BlockSize {
		out = out[:n-int(out[n-1])]
	}
	return out
}

// text decrypts the strings in an object.
func (c *crypt) text(o object, r ref, depth int) object {
	if depth > maxDepth {
		return nil
	}
	switch o := o.(type) {
	case str:
		return str(c.decrypt([]byte(o), r, c.strings))
	case array:
		for i := range o {
			o[i] = c.text(o[i], r, depth+1)
		}
	case dict:
		for key := range o {
			o[key] = c.text(o[key], r, depth+1)
		}
	case *stream:
		c.text(o.dict, r, depth+1)
	}
	return o
}
