package demo

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Rule is a rule for outputs, documents, runs or reviews: an error code, or a rule
// that results name.
type Rule struct {
	ID      string
	Kind    Kind
	Meaning string
	Fix     string
	Why     string
	plants  []plant
}

// Kind says where a rule shows up.
type Kind struct {
	Folder string // of its archives in rules
	Title  string // of a list of such rules
	Where  string // what names the rule
}

// kinds lists the kinds in the order in which rules are listed.
var kinds = []Kind{
	{"code", "Error codes", "error.code of an envelope"},
	{"pivot", "Rules of the pivot", "rule_hit of `pivot decide`"},
	{"contract", "Checks of contracts", "findings of `perspectives check`"},
	{"gate", "Why a gate does not pass", "warnings of the gates"},
	{"verify", "Damage to a run", "findings of `run verify`"},
	{"review", "Doubts about a review", "findings of `review show` and `change advance`"},
}

// plant is one violation of a rule, with its fix.
type plant struct {
	name    string
	archive archive
}

// unplanted says why the violation cannot be planted, or "".
func (p plant) unplanted() string { return p.archive.header["unplanted"] }

// Rules reads all rules: codes in the order of [tidegate.Explanations], all
// others by name. An archive that cannot be read is a mistake in the program,
// returned as INTERNAL.
func Rules() ([]Rule, error) {
	var rules []Rule
	for _, kind := range kinds {
		list, err := rulesOf(kind)
		if err != nil {
			return nil, tidegate.Errorf(tidegate.Internal, nil, "the rules cannot be read: %w", err)
		}
		rules = append(rules, list...)
	}
	return rules, nil
}

func rulesOf(kind Kind) ([]Rule, error) {
	entries, err := fs.ReadDir(archives, path.Join("rules", kind.Folder))
	if err != nil {
		return nil, err
	}
	var rules []Rule
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".txtar")
		read, err := readArchive(path.Join(kind.Folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		id, _, _ := strings.Cut(name, "~")
		i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
		if i < 0 {
			i = len(rules)
			rules = append(rules, Rule{ID: id, Kind: kind})
		}
		rules[i].plants = append(rules[i].plants, plant{name, read})
	}
	for i := range rules {
		rules[i].explain()
	}
	slices.SortStableFunc(rules, func(a, b Rule) int { return place(a) - place(b) })
	return rules, nil
}

func (r *Rule) explain() {
	header := r.plants[0].archive.header
	r.Meaning, r.Fix, r.Why = header["meaning"], header["fix"], header["why"]
	if x, ok := tidegate.Explain(tidegate.Code(r.ID)); ok {
		r.Meaning, r.Fix = x.Meaning, x.Fix
	}
}

// place is the row of a code in the table of codes.
func place(r Rule) int {
	return slices.IndexFunc(tidegate.Explanations, func(x tidegate.Explanation) bool { return string(x.Code) == r.ID })
}

// Find finds a rule by its id, in any letter case. It returns INVALID_ARGS with
// the id, or the other name, that was probably meant.
func Find(id string, others ...string) (Rule, error) {
	rules, err := Rules()
	if err != nil {
		return Rule{}, err
	}
	ids := make([]string, len(rules))
	for i, r := range rules {
		if strings.EqualFold(r.ID, id) {
			return r, nil
		}
		ids[i] = r.ID
	}
	hint := codec.DidYouMean(id, append(ids, others...), "`tidegate explain` lists them")
	return Rule{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("rule", tidegate.Cut(id)), "there is no code, rule or word %q; %s", tidegate.Cut(id), hint)
}
