package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// absolute is the path that a person typed, made absolute.
func absolute(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// note notes which paths were typed. It returns INVALID_ARGS for what cannot be
// an argument, because JSON has only UTF-8: a file with such a name may exist, and
// the message must not say that it was not found.
func (p *Program) note(cmd *cobra.Command, operands []string) error {
	var err error
	p.typed = map[string]string{}
	take := func(name, text string) {
		if !utf8.ValidString(text) {
			err = cmp.Or(err, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("argument", name), "%s is not UTF-8: rename the file or folder", name))
		}
		p.typed[absolute(p.Dir, text)] = name
	}
	for _, text := range operands {
		take(strconv.Quote(text), text)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) { take("--"+f.Name, f.Value.String()) })
	return err
}

// misplaced is err, or INVALID_ARGS for an error about a folder that a person
// named where a file belongs, or vice versa.
func (p *Program) misplaced(err error) error {
	e := tidegate.AsError(err)
	if e == nil || e.Code != tidegate.ReadFailed && e.Code != tidegate.FileNotFound || len(e.Details) != 1 {
		return err
	}
	path, _ := e.Details[0].Value.(string)
	if _, typed := p.typed[path]; !typed {
		return err
	}
	info, missing := os.Stat(path)
	switch {
	case missing != nil:
	case info.IsDir() && e.Code == tidegate.ReadFailed:
		return tidegate.Errorf(tidegate.InvalidArgs, e.Details, "%s must be a file, and this is a folder: %s", e.Details[0].Key, path)
	case info.Mode().IsRegular() && e.Code == tidegate.FileNotFound:
		return tidegate.Errorf(tidegate.InvalidArgs, e.Details, "%s must be a folder, and this is a file: %s", e.Details[0].Key, path)
	}
	return err
}

// lookAround is what to do about a path that was typed and leads to nothing: it
// says up to where the path exists, and what there has a similar name. It is ""
// where the error is about something else.
func (p *Program) lookAround(e *tidegate.Error) string {
	for _, d := range e.Details {
		path, _ := d.Value.(string)
		name, typed := p.typed[path]
		if !typed {
			continue
		}
		if !strings.HasPrefix(name, "--") {
			name = "the path"
		}
		for {
			folder, last := filepath.Dir(path), filepath.Base(path)
			entries, err := os.ReadDir(folder)
			if err != nil && folder != path {
				path = folder
				continue
			}
			names := make([]string, 0, len(entries))
			for _, entry := range entries {
				names = append(names, entry.Name())
			}
			if like := codec.Nearest(last, names); like != "" {
				return folder + " has no " + last + "; did you mean " + like + "?"
			}
			return "Check " + name + ": " + folder + " has no " + last + "."
		}
	}
	return ""
}
