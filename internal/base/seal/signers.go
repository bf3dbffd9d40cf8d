package seal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Signers says whose signatures count: an allowed_signers file of OpenSSH.
type Signers struct {
	lines []signerLine
}

// Signer is a key that signed, and the name that the signers file has for it.
type Signer struct {
	Principal   string // what the signers file calls the key: a name, or a list of patterns as it stands there
	Fingerprint string // of the key, SHA256:…, as `ssh-keygen -l` prints it
}

// String names the signer. A pattern is shown as one: whoever has the key may be any of
// those that it describes.
func (s Signer) String() string {
	switch {
	case strings.ContainsAny(s.Principal, "*?!"):
		return "a key that is listed for the pattern " + s.Principal
	case strings.Contains(s.Principal, ","):
		return "a key that is listed for " + s.Principal
	}
	return s.Principal
}

// ReadSigners reads the signers file at path, which the caller was given as the
// argument arg. It returns the errors of [artifact.Reach.ReadFile] and of
// [ParseSigners], with the path under arg.
func ReadSigners(reach artifact.Reach, arg, path string) (*Signers, error) {
	data, err := reach.ReadFile(arg, path)
	if err != nil {
		return nil, err
	}
	signers, err := ParseSigners(data)
	if err != nil {
		return nil, tidegate.WithDetails(err, append(tidegate.Pairs(arg, path), tidegate.AsError(err).Details...))
	}
	return signers, nil
}

// ParseSigners reads the text of a signers file. A line that ssh-keygen would
// not understand, or that this package does not support, is INVALID_ARGS with
// its number in details.line_number: a file of which a part is unclear says
// nothing about whom to trust. So is a file that lists nobody.
func ParseSigners(data []byte) (*Signers, error) {
	lines, err := parseSignerLines(string(data))
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, nil, "the signers file lists no key")
	}
	return &Signers{lines}, nil
}

// As is what is left of s when the signer must have the name principal: the keys of
// the lines whose principals match it.
func (s *Signers) As(principal string) *Signers {
	named := new(Signers)
	for _, line := range s.lines {
		if matchList(line.principals, principal) {
			named.lines = append(named.lines, line)
		}
	}
	return named
}

// Verify names the signer of message by its armored signature. The signer must have
// been valid at that time. It returns TAMPERED when the signature is damaged, is
// over another message or in another namespace, is of a weak kind, or is by a key
// that is not listed, not yet valid, or expired.
func (s *Signers) Verify(message, armored []byte, at time.Time) (Signer, error) {
	sig, err := parseSignature(armored)
	if err != nil {
		return Signer{}, tampered(nil, "%w", err)
	}
	if sig.Namespace != Namespace {
		return Signer{}, tampered(nil, "the signature must be made for the namespace %q, and was made for %q", Namespace, sig.Namespace)
	}
	line, err := s.find(fingerprint(sig.Key), at)
	if err != nil {
		return Signer{}, err
	}
	if err := sig.verify(line.key, message); err != nil {
		return Signer{}, tampered(tidegate.Pairs("signer", line.fingerprint), "the signature by %s does not count: %w", line.fingerprint, err)
	}
	return line.signer(), nil
}

// Signed reports whether one of the signers made a signature over the canonical form of a
// value, at a time as logs have it.
func (s *Signers) Signed(value any, armored, at string) bool {
	message, err := codec.Canonical(value)
	made, ok := tidegate.ParseTime(at)
	if err != nil || !ok {
		return false
	}
	_, err = s.Verify(message, []byte(armored), made)
	return err == nil
}

// verifyPlain is Verify for a signature that must be written as we write it, so
// that not a byte of it can differ.
func (s *Signers) verifyPlain(message, armored []byte, at time.Time) (Signer, error) {
	signer, err := s.Verify(message, armored, at)
	if err != nil {
		return Signer{}, err
	}
	if again, err := rewrite(armored); err != nil || !bytes.Equal(again, armored) {
		return Signer{}, tampered(tidegate.Pairs("signer", signer.Fingerprint), "the signature by %s is not written as it was made", signer.Fingerprint)
	}
	return signer, nil
}

// verifyBare is Verify for a bare Ed25519 signature, which does not say by which
// key it was made.
func (s *Signers) verifyBare(message, sig []byte, keyID string, at time.Time) (Signer, error) {
	line, err := s.find(keyID, at)
	if err != nil {
		return Signer{}, err
	}
	key := cryptoKey[ed25519.PublicKey](line.key)
	if line.key.Type() != ssh.KeyAlgoED25519 || !ed25519.Verify(key, message, sig) {
		return Signer{}, tampered(tidegate.Pairs("signer", keyID), "the Ed25519 signature is not by %s over this message", keyID)
	}
	return line.signer(), nil
}

// find is the first line that lets the key of that fingerprint sign for us at
// that time.
func (s *Signers) find(fingerprint string, at time.Time) (signerLine, error) {
	fingerprint = tidegate.Cut(fingerprint)
	why := "is not among the signers"
	for _, line := range s.lines {
		if line.fingerprint != fingerprint {
			continue
		}
		switch {
		case line.namespaces != "" && !matchList(line.namespaces, Namespace):
			why = fmt.Sprintf("is listed for other namespaces only (line %d of the signers): %s", line.number, line.namespaces)
		case at.Before(line.after):
			why = fmt.Sprintf("is valid only from %s on (line %d of the signers)", line.after.Format(time.RFC3339), line.number)
		case !line.before.IsZero() && at.After(line.before):
			why = fmt.Sprintf("was valid only until %s (line %d of the signers)", line.before.Format(time.RFC3339), line.number)
		default:
			return line, nil
		}
	}
	return signerLine{}, tampered(tidegate.Pairs("signer", fingerprint), "the key %s %s", fingerprint, why)
}

// tampered is TAMPERED: something is not what was signed or sealed.
func tampered(details tidegate.Details, format string, args ...any) error {
	return tidegate.Errorf(tidegate.Tampered, details, format, args...)
}

// matchList reports whether name is in a pattern list of OpenSSH: patterns with
// * and ?, separated by commas. At least one must match, and none that begins
// with ! may.
func matchList(list, name string) bool {
	found := false
	for pattern := range strings.SplitSeq(list, ",") {
		pattern, negated := strings.CutPrefix(pattern, "!")
		if !match(pattern, name) {
			continue
		}
		if negated {
			return false
		}
		found = true
	}
	return found
}

// match reports whether pattern describes the whole of name: * stands for any
// bytes, ? for one. Its time is at most the product of the lengths.
func match(pattern, name string) bool {
	star, tried := -1, 0 // the last * in pattern, and where in name what follows it was tried
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, tried = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			tried++
			p, n = star+1, tried
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// signerLine is one line of an allowed_signers file: principals, options, key.
type signerLine struct {
	number        int
	principals    string // a pattern list
	namespaces    string // a pattern list; "" for all
	after, before time.Time
	key           ssh.PublicKey
	fingerprint   string
}

func (l signerLine) signer() Signer { return Signer{l.principals, l.fingerprint} }

// fingerprint is what ssh-keygen -l prints of a key in its wire form.
func fingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

func parseSignerLines(text string) ([]signerLine, error) {
	var lines []signerLine
	number := 0
	for text := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		number++
		text = strings.Trim(text, whitespace+"\r")
		if text == "" || text[0] == '#' {
			continue
		}
		line, err := parseSignerLine(text)
		if err != nil {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("line_number", number), "line %d of the signers file: %w", number, err)
		}
		line.number = number
		lines = append(lines, line)
	}
	return lines, nil
}

// whitespace separates the fields of a line.
const whitespace = " \t"

func parseSignerLine(text string) (line signerLine, err error) {
	if line.principals, text, err = principals(text); err != nil {
		return line, err
	}
	kind, rest := cutField(text)
	if kind != "" && !isKeyType(kind) {
		if text, err = line.parseOptions(text); err != nil {
			return line, err
		}
		kind, rest = cutField(text)
	}
	if !isKeyType(kind) {
		return line, fmt.Errorf("expected the type of a key, such as ssh-ed25519, got %q", tidegate.Cut(kind))
	}
	encoded, _ := cutField(rest) // a comment may follow
	if line.key, err = parsePublicKey(kind, encoded); err != nil {
		return line, err
	}
	line.fingerprint = fingerprint(line.key.Marshal())
	return line, nil
}

// principals takes the first field off a line: a pattern list, which may be in
// quotes.
func principals(text string) (list, rest string, err error) {
	if text[0] == '"' {
		if list, rest, err = unquote(text); err != nil {
			return "", "", fmt.Errorf("the principals %w", err)
		}
		if rest != "" && !strings.ContainsRune(whitespace, rune(rest[0])) {
			return "", "", errors.New("the quoted principals must be followed by a space")
		}
		rest = strings.TrimLeft(rest, whitespace)
	} else {
		list, rest = cutField(text)
	}
	switch {
	case !printable(list):
		return "", "", errors.New("the principals hold characters that cannot be shown")
	case strings.Contains(","+strings.ReplaceAll(list, "!", "")+",", ",,"):
		return "", "", errors.New("the principals hold an empty name")
	}
	return list, rest, nil
}

// printable reports whether a terminal can show s as it is.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// cutField splits text at the first whitespace.
func cutField(text string) (field, rest string) {
	end := strings.IndexAny(text, whitespace)
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimLeft(text[end:], whitespace)
}

// unquote takes a text in double quotes off the start of s. \" in it stands for
// a quote.
func unquote(s string) (text, rest string, err error) {
	s, ok := strings.CutPrefix(s, `"`)
	if !ok {
		return "", "", errors.New("must be in double quotes")
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", errors.New("have no closing quote")
}

// parseOptions takes the options off a line and returns what follows them. Their
// names may be in any letter case.
func (l *signerLine) parseOptions(text string) (rest string, err error) {
	seen := map[string]bool{}
	for {
		name, value, err := cutOption(&text)
		if err != nil {
			return "", err
		}
		if seen[name] {
			return "", fmt.Errorf("the option %s stands there twice", name)
		}
		seen[name] = true
		switch name {
		case "cert-authority":
			return "", errors.New("certificate authorities are not supported; list the keys themselves")
		case "namespaces":
			if l.namespaces = value; !printable(value) || strings.Trim(value, ",") == "" {
				return "", errors.New("the option namespaces must hold names")
			}
		case "valid-after":
			l.after, err = parseTime(name, value)
		case "valid-before":
			l.before, err = parseTime(name, value)
		default:
			return "", fmt.Errorf("the option %q is unknown; there are namespaces, valid-after and valid-before", tidegate.Cut(name))
		}
		if err != nil {
			return "", err
		}
		if !strings.HasPrefix(text, ",") {
			break
		}
		text = text[1:]
	}
	if !l.after.IsZero() && !l.before.IsZero() && !l.after.Before(l.before) {
		return "", errors.New("valid-before must be later than valid-after")
	}
	if text != "" && !strings.ContainsRune(whitespace, rune(text[0])) {
		return "", errors.New("options must be separated by commas")
	}
	return strings.TrimLeft(text, whitespace), nil
}

// cutOption takes one option off the start of text: a name, or a name with a
// value in quotes.
func cutOption(text *string) (name, value string, err error) {
	end := strings.IndexAny(*text, whitespace+",=")
	if end < 0 {
		end = len(*text)
	}
	name, rest := strings.ToLower((*text)[:end]), (*text)[end:]
	if after, ok := strings.CutPrefix(rest, "="); ok {
		if value, rest, err = unquote(after); err != nil {
			return "", "", fmt.Errorf("the values of the option %s %w", tidegate.Cut(name), err)
		}
	}
	*text = rest
	return name, value, nil
}

// parseTime reads a time of the form YYYYMMDD[HHMM[SS]][Z]. Without Z it is UTC
// as well.
func parseTime(option, text string) (time.Time, error) {
	const layout = "20060102150405"
	digits := strings.TrimSuffix(text, "Z")
	switch len(digits) {
	case len("20060102"), len("200601021504"), len(layout):
		if t, err := time.Parse(layout[:len(digits)], digits); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("the option %s must be a time of the form YYYYMMDD[HHMM[SS]][Z], got %q", option, tidegate.Cut(text))
}

// isKeyType reports whether a field is the type of a key, known or not, and not an
// option.
func isKeyType(field string) bool {
	for _, start := range []string{"ssh-", "ecdsa-", "sk-"} {
		if strings.HasPrefix(field, start) && !strings.ContainsAny(field, `,="`) {
			return true
		}
	}
	return false
}

// parsePublicKey reads a public key; kind and encoded are the first two fields of
// its line.
func parsePublicKey(kind, encoded string) (ssh.PublicKey, error) {
	blob, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || encoded == "" {
		return nil, fmt.Errorf("the %s key is not written in base64", tidegate.Cut(kind))
	}
	key, err := ssh.ParsePublicKey(blob)
	if err != nil {
		return nil, fmt.Errorf("the %s key cannot be read", tidegate.Cut(kind))
	}
	if key.Type() != kind {
		return nil, fmt.Errorf("the key is of the type %s, not %s as the line says", key.Type(), tidegate.Cut(kind))
	}
	return key, checkKey(key)
}
