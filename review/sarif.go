package review

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// sarif takes the results of one run of a tool.
func (r *foreignReader) sarif(run *codec.Value) {
	r.tool(run.Get("tool").Get("driver").Get("name").Str())
	for _, result := range run.Get("results").Elems() {
		kind := result.Get("kind").Str()
		switch {
		case kind == "pass" || kind == "notApplicable" || result.Get("baselineState").Str() == "absent":
			r.leave(leftPassed, 1)
		case suppressed(result):
			r.leave(leftSuppressed, 1)
		default:
			rule := sarifRule(run, result)
			file, line := sarifPlace(run, result)
			message := sarifMessage(run, rule, result.Get("message"))
			r.add(found{
				rule:     cmp.Or(result.Get("ruleId").Str(), result.Get("rule").Get("id").Str(), rule.Get("id").Str()),
				message:  message,
				help:     sarifHelp(rule, result, message),
				severity: sarifSeverity(rule, result),
				category: categoryOf(rule, result),
				file:     file, line: line,
			})
		}
	}
}

// suppressed reports whether everybody who was asked to suppress a result did so.
func suppressed(result *codec.Value) bool {
	list := result.Get("suppressions").Elems()
	for _, s := range list {
		if status := s.Get("status").Str(); status == "underReview" || status == "rejected" {
			return false
		}
	}
	return len(list) > 0
}

// sarifRule finds the description of a result's rule: by its index, in the tool
// itself or in one of its extensions, otherwise by its id. It is absent where the
// tool describes no rules.
func sarifRule(run, result *codec.Value) *codec.Value {
	component := run.Get("tool").Get("driver")
	reference := result.Get("rule")
	if at, ok := reference.Get("toolComponent").Get("index").Int(); ok {
		component = elem(run.Get("tool").Get("extensions"), at)
	}
	rules := component.Get("rules")
	for _, index := range []*codec.Value{reference.Get("index"), result.Get("ruleIndex")} {
		if at, ok := index.Int(); ok && at >= 0 {
			return elem(rules, at)
		}
	}
	id := cmp.Or(result.Get("ruleId").Str(), reference.Get("id").Str())
	for _, rule := range rules.Elems() {
		if known := rule.Get("id").Str(); known != "" && (id == known || strings.HasPrefix(id, known+"/")) {
			return rule
		}
	}
	return nil
}

func elem(list *codec.Value, at int64) *codec.Value {
	if elems := list.Elems(); at >= 0 && at < int64(len(elems)) {
		return elems[at]
	}
	return nil
}

// sarifSeverity is the security score where the rule has one, otherwise the level
// of the result, otherwise that of its rule.
func sarifSeverity(rule, result *codec.Value) Severity {
	for _, v := range []*codec.Value{result, rule} {
		if score, err := strconv.ParseFloat(v.Get("properties").Get("security-severity").Str(), 64); err == nil {
			switch {
			case score >= 7:
				return High
			case score >= 4:
				return Medium
			}
			return Low
		}
	}
	level := cmp.Or(result.Get("level").Str(), rule.Get("defaultConfiguration").Get("level").Str())
	if kind := result.Get("kind").Str(); level == "" && kind != "" && kind != "fail" {
		level = "none"
	}
	switch level {
	case "error":
		return High
	case "note", "none":
		return Low
	}
	return Medium
}

// categoryOf is the documented category that the tags of a rule name, Bug where
// they name none of them.
func categoryOf(rule, result *codec.Value) string {
	for _, v := range []*codec.Value{result, rule} {
		bag := v.Get("properties")
		if bag.Get("security-severity").Str() != "" {
			return "Security"
		}
		tags := bag.Get("tags").Elems()
		for _, tag := range append(tags[:len(tags):len(tags)], bag.Get("category")) {
			word, _, _ := strings.Cut(strings.ToLower(tag.Str()), "/")
			switch word {
			case "security", "vulnerability":
				return "Security"
			case "performance", "efficiency":
				return "Performance"
			case "style", "formatting", "readability", "convention":
				return "Style"
			case "bug", "bugs", "correctness":
				return "Bug"
			}
		}
	}
	return "Bug"
}

// sarifMessage is the text of a message, which may stand with the rule and have
// arguments.
func sarifMessage(run, rule, message *codec.Value) string {
	text := cmp.Or(message.Get("text").Str(), message.Get("markdown").Str())
	if id := message.Get("id").Str(); text == "" && id != "" {
		for _, strings := range []*codec.Value{rule.Get("messageStrings"), run.Get("tool").Get("driver").Get("globalMessageStrings")} {
			text = cmp.Or(text, strings.Get(id).Get("text").Str())
		}
	}
	return plainMessage(text, message.Get("arguments").Elems())
}

// plainMessage puts arguments into the places of a message and removes its links
// and escapes. A place inside an argument is text.
func plainMessage(text string, arguments []*codec.Value) string {
	var b strings.Builder
	text = beginning(text)
	for len(text) > 0 && b.Len() <= 2*maxForeignText {
		switch text[0] {
		case '\\':
			if len(text) > 1 && strings.ContainsRune(`[]\`, rune(text[1])) {
				text = text[1:]
			}
		case '{':
			if number, rest, ok := strings.Cut(text[1:], "}"); ok && len(number) <= 4 {
				if at, err := strconv.Atoi(number); err == nil && at >= 0 && at < len(arguments) {
					b.WriteString(arguments[at].Str())
					text = rest
					continue
				}
			}
		case '[':
			if label, rest, ok := strings.Cut(text[1:], "]("); ok && !strings.ContainsAny(label, "[]\n") {
				if _, after, ok := strings.Cut(rest, ")"); ok {
					b.WriteString(label)
					text = after
					continue
				}
			}
		}
		b.WriteByte(text[0])
		text = text[1:]
	}
	return b.String()
}

// sarifHelp is what the tool proposes, otherwise what it says about the rule
// beyond the message.
func sarifHelp(rule, result *codec.Value, message string) string {
	if fixes := result.Get("fixes"); fixes.Len() > 0 {
		if text := elem(fixes, 0).Get("description").Get("text").Str(); text != "" {
			return text
		}
	}
	if text := rule.Get("help").Get("text").Str(); text != "" && text != rule.Get("shortDescription").Get("text").Str() && !strings.Contains(message, text) {
		return text
	}
	if uri := rule.Get("helpUri").Str(); strings.HasPrefix(uri, "https://") {
		return "See " + uri
	}
	return ""
}

// sarifPlace is the file and line of a result's first place. A file is a URI,
// which may be relative to a base that the run names.
func sarifPlace(run, result *codec.Value) (file string, line int64) {
	physical := elem(result.Get("locations"), 0).Get("physicalLocation")
	location := physical.Get("artifactLocation")
	if at, ok := location.Get("index").Int(); ok && location.Get("uri").Str() == "" {
		location = elem(run.Get("artifacts"), at).Get("location")
	}
	file = location.Get("uri").Str()
	base := location.Get("uriBaseId").Str()
	for range 8 { // bases of bases; a circle ends here
		if file == "" || base == "" || strings.Contains(file, ":") || strings.HasPrefix(file, "/") {
			break
		}
		at := run.Get("originalUriBaseIds").Get(base)
		if uri := at.Get("uri").Str(); uri != "" {
			file = strings.TrimSuffix(uri, "/") + "/" + file
		}
		base = at.Get("uriBaseId").Str()
	}
	if !strings.HasPrefix(file, "file:") {
		if plain, err := url.PathUnescape(file); err == nil {
			file = plain
		}
	}
	line, _ = physical.Get("region").Get("startLine").Int()
	return file, line
}
