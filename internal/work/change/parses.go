package change

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
)

// Parses reports whether a file is well-formed in the language that its name says: Go,
// JSON, YAML, TOML, and Python by its indentation. Of other files nothing is known.
func Parses(file string, text []byte) error {
	switch strings.ToLower(path.Ext(file)) {
	case ".go":
		_, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		return err
	case ".json":
		_, err := codec.Parse(text)
		return err
	case ".yaml", ".yml":
		for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var node yaml.Node
			if err := decoder.Decode(&node); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
		}
	case ".toml":
		return config.ParsesTOML(text)
	case ".py":
		return indents(string(text))
	}
	return nil
}

// indents holds the indentation of a Python program against its blocks: a line that opens
// one is followed by a deeper one, and a block ends where an earlier one stood.
func indents(text string) error {
	depths := []int{0}
	opens, continued, brackets, quote := false, false, 0, ""
	for n, line := range strings.Split(text, "\n") {
		code := strings.TrimRight(line, " \t\r")
		inside := brackets > 0 || quote != "" || continued
		continued = strings.HasSuffix(code, `\`)
		code, brackets, quote = strippedPython(code, brackets, quote)
		word := strings.TrimLeft(code, " \t")
		if word == "" && !inside || inside {
			if inside && word != "" && brackets == 0 && quote == "" {
				opens = strings.HasSuffix(code, ":")
			}
			continue
		}
		depth := len(strings.ReplaceAll(code[:len(code)-len(word)], "\t", "        "))
		last := depths[len(depths)-1]
		switch {
		case opens && depth <= last:
			return fmt.Errorf("line %d: the line before opens a block", n+1)
		case !opens && depth > last:
			return fmt.Errorf("line %d: it is indented more than the line before", n+1)
		case depth > last:
			depths = append(depths, depth)
		}
		for depths[len(depths)-1] > depth {
			depths = depths[:len(depths)-1]
		}
		if depths[len(depths)-1] != depth {
			return fmt.Errorf("line %d: its indentation is that of no block", n+1)
		}
		if brackets == 0 && quote == "" {
			opens = strings.HasSuffix(code, ":")
		} else {
			opens = false
		}
	}
	if opens {
		return errors.New("the last line opens a block")
	}
	return nil
}

// strippedPython is a line without its texts and remarks, and what stays open at its end.
func strippedPython(line string, brackets int, quote string) (code string, open int, still string) {
	var b strings.Builder
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case quote != "" && rest[0] == '\\':
			i++
		case quote != "" && strings.HasPrefix(rest, quote):
			i += len(quote) - 1
			quote = ""
			b.WriteByte('"')
		case quote != "":
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, "'''"):
			quote = rest[:3]
			b.WriteByte('"')
			i += 2
		case rest[0] == '"', rest[0] == '\'':
			quote = rest[:1]
			b.WriteByte('"')
		case rest[0] == '#':
			return strings.TrimRight(b.String(), " \t"), brackets, quote
		default:
			brackets = max(0, brackets+strings.Count("([{", rest[:1])-strings.Count(")]}", rest[:1]))
			b.WriteByte(rest[0])
		}
		i++
	}
	if len(quote) == 1 { // it does not go on in the next line
		quote = ""
	}
	return strings.TrimRight(b.String(), " \t"), brackets, quote
}
