package evidence

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/figure"
)

// Calculation is a formula behind a sentence.
type Calculation struct {
	Text     string    `json:"text"`   // EXPRESSION = RESULT
	Result   string    `json:"result"` // as it is written
	Operands []Operand `json:"operands"`

	result quantity
	terms  []span // of operands that are added or subtracted
	wrong  bool
}

// Operand is a number of a formula.
type Operand struct {
	Text string `json:"text"`
	// From says where the number comes from: the cid of the window that has it,
	// "result" for a result calculated before, "constant", or "" for nowhere.
	From string `json:"from"`

	quantity
	factor bool // it multiplies or divides
}

// Where operands come from that no window has.
const (
	FromResult   = "result"
	FromConstant = "constant"
)

// calculation reads the formula of a sentence. A formula that is none is FORM_MIXED,
// one with another result CALCULATION_WRONG.
func (w *walker) calculation(s *Sentence, text string) {
	formula, written, _ := strings.Cut(text, "=")
	written = strings.TrimSpace(written)
	value, operands, terms, err := parseExpression(formula, w.facts.Language)
	s.Calculation = &Calculation{Text: markdown.OneLine(text), Result: written, Operands: operands, terms: terms, wrong: true}
	if errors.Is(err, errDivision) {
		w.fault(tidegate.CalculationWrong, s.Line, "Take the calculation out, or divide by another number.", "the calculation %q in line %d has no result: %v", text, s.Line, err)
		return
	}
	negative := strings.HasPrefix(written, "-") || strings.HasPrefix(written, "−")
	bare := strings.TrimLeft(written, "-− ")
	var result quantity
	if err == nil {
		result, err = parseQuantity(bare, w.facts.Language)
	}
	if err == nil && result.Len != len(bare) {
		err = errors.New("its result is more than a number")
	}
	if err != nil {
		w.fault(tidegate.FormMixed, s.Line, "Write [calculated: EXPRESSION = RESULT] with numbers as the report's language writes them, + - * / ( ), × ÷ and %; units stay in the sentence.",
			"the calculation %q in line %d cannot be read: %v", cutTo(text, 60), s.Line, err)
		return
	}
	if negative {
		result.digits.Neg(result.digits)
	}
	s.Calculation.result = result
	if right := result.rounded(value); right.Cmp(result.digits) != 0 && !result.halfWay(value) {
		w.fault(tidegate.CalculationWrong, s.Line, "Write the right value here and in the sentence, or correct the formula.",
			"the calculation %q in line %d gives %s", cutTo(text, 80), s.Line, result.with(right, figure.DecimalPoint(w.facts.Language)))
		return
	}
	if !saysResult(s.Text, bare, w.facts.Language) {
		w.fault(tidegate.CalculationWrong, s.Line, "Say the result in the sentence as the calculation has it, or take the calculation out.",
			"the sentence in line %d does not say %s, which it calculates", s.Line, written)
		return
	}
	s.Calculation.wrong = false
}

// rounded is an exact value in the unit and to the digits of a written one, halves away
// from zero.
func (q quantity) rounded(exact *big.Rat) *big.Rat {
	scaled := new(big.Rat).Quo(exact, q.unit())
	scaled.Mul(scaled, tenTo(len(q.Fraction)))
	half := big.NewRat(1, 2)
	if scaled.Sign() < 0 {
		half.Neg(half)
	}
	scaled.Add(scaled, half)
	whole := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	return new(big.Rat).Quo(new(big.Rat).SetInt(whole), tenTo(len(q.Fraction)))
}

// halfWay holds for a written value that is as near to the exact one as its neighbour.
func (q quantity) halfWay(exact *big.Rat) bool {
	off := new(big.Rat).Sub(new(big.Rat).Quo(exact, q.unit()), q.digits)
	off.Mul(off.Abs(off), tenTo(len(q.Fraction)))
	return off.Cmp(big.NewRat(1, 2)) == 0
}

// with writes other digits in the place of those of a written value.
func (q quantity) with(digits *big.Rat, point bool) string {
	text := digits.FloatString(len(q.Fraction))
	if !point {
		text = strings.Replace(text, ".", ",", 1)
	}
	behind := strings.TrimLeft(q.text, "0123456789.,'’٬٫ \u00a0\u2009\u202f")
	if behind == "" {
		return text
	}
	return text + " " + behind
}

// constants only multiply or divide.
var constants = []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 24, 30, 31, 52, 60, 100, 365, 366, 1000, 1_000_000, 1_000_000_000}

func (o Operand) isConstant() bool {
	return o.factor && slices.ContainsFunc(constants, func(c int64) bool { return o.value().Cmp(new(big.Rat).SetInt64(c)) == 0 })
}

// findOperands finds where the operands of the calculations come from, with the windows
// of each sentence, and writes it into them. OPERAND_NOT_FOUND names one that comes from
// nowhere, and a calculation of constants alone.
func (r *Report) findOperands(held []claim.Judgement, language string) []Fault {
	var faults []Fault
	var results []*big.Rat
	windows := windowNumbers{read: map[string]*figure.Index{}}
	for i := range r.Sentences {
		if c := r.Sentences[i].Calculation; c != nil {
			for _, o := range c.Operands {
				windows.wanted = append(windows.wanted, o.readings(language)...)
			}
		}
	}
	for i := range r.Sentences {
		s := &r.Sentences[i]
		if s.Calculation == nil {
			continue
		}
		for k := range s.Calculation.Operands {
			o := &s.Calculation.Operands[k]
			switch cid := r.operandWindow(i, o.readings(language), held, windows); {
			case cid != "":
				o.From = cid
			case slices.ContainsFunc(results, func(v *big.Rat) bool { return v.Cmp(o.value()) == 0 }):
				o.From = FromResult
			case o.isConstant():
				o.From = FromConstant
			default:
				faults = append(faults, NewFault(tidegate.OperandNotFound, s.Line, "Calculate with numbers that stand on the cited pages, in the passages about this sentence, or that you calculated before.",
					"%q in the calculation of line %d is in no passage of its paragraph's sources, no result and no constant", o.Text, s.Line))
			}
		}
		if s.Calculation.ofConstants() {
			faults = append(faults, NewFault(tidegate.OperandNotFound, s.Line, "Calculate with a number of a cited page.",
				"the calculation of line %d, or something that it adds or subtracts, has nothing but constants: %q", s.Line, s.Calculation.Text))
		}
		if !s.Calculation.wrong {
			results = append(results, s.Calculation.result.value())
		}
	}
	return faults
}

// ofConstants reports whether a calculation, or a part of it that is added or subtracted,
// has nothing but constants.
func (c *Calculation) ofConstants() bool {
	return slices.ContainsFunc(append(c.terms, span{0, len(c.Operands)}), func(term span) bool {
		of := c.Operands[term.from:term.to]
		return len(of) > 0 && !slices.ContainsFunc(of, func(o Operand) bool { return o.From != FromConstant })
	})
}

// operandWindow is the cid of the first window of a sentence, or of another of its
// paragraph, that has a number.
func (r *Report) operandWindow(at int, wanted []figure.Quantity, held []claim.Judgement, windows windowNumbers) string {
	near := []int{at}
	paragraph := r.Sentences[at].Paragraph
	for i := at - 1; i >= 0 && r.Sentences[i].Paragraph == paragraph; i-- {
		near = append(near, i)
	}
	for i := at + 1; i < len(r.Sentences) && r.Sentences[i].Paragraph == paragraph; i++ {
		near = append(near, i)
	}
	for _, i := range near {
		for _, window := range held[i].Windows {
			if _, _, found := windows.in(window.Text).Find(wanted); found {
				return window.CID
			}
		}
	}
	return ""
}

// windowNumbers are the numbers of windows that operands of a report may be. Each window
// is read once, whatever number of operands is looked for in it.
type windowNumbers struct {
	wanted []figure.Quantity
	read   map[string]*figure.Index // by text
}

func (n windowNumbers) in(window string) *figure.Index {
	index := n.read[window]
	if index == nil {
		index = figure.NewIndex()
		index.Want(n.wanted)
		index.Read(window)
		n.read[window] = index
	}
	return index
}

// readings are the quantities of a page that an operand can be.
func (o Operand) readings(language string) []figure.Quantity {
	_, percent := figure.Claimed("12 %", languagesOf(language))
	share := percent[0].Readings[0]
	share.Value = canonical(new(big.Rat).Mul(o.digits, tenTo(o.Power)))
	if o.Percent {
		return []figure.Quantity{share}
	}
	return []figure.Quantity{{Value: share.Value}, share}
}

// canonical is a decimal as package figure writes it: digits without zeros at their
// ends, e, and the power of ten.
func canonical(v *big.Rat) string {
	whole, fraction, _ := strings.Cut(v.FloatString(maxDigits), ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	return fmt.Sprintf("%se%d", trimmed, len(digits)-len(trimmed)-maxDigits)
}

// granted are the results, as they are written, that count as found in a sentence: its
// own, those of sentences before it in its paragraph, and, in a summary, those of
// sentences whose sources it names.
func (r *Report) granted(at int, calculated []int) []string {
	var results []string
	to := &r.Sentences[at]
	for _, i := range calculated {
		s := &r.Sentences[i]
		same := s.Paragraph == to.Paragraph && i <= at
		if same || to.summary && len(s.CIDs) > 0 && !slices.ContainsFunc(s.CIDs, func(cid string) bool { return !slices.Contains(to.CIDs, cid) }) {
			results = append(results, s.Calculation.Result)
		}
	}
	return results
}

// isResult reports whether a number of a sentence is a result: a percentage only where
// the result is one.
func isResult(number, result, language string) bool {
	unsigned := func(text string) string { return "= " + strings.TrimLeft(text, "-− ") } // it fell by 12
	_, of := figure.Claimed(unsigned(number), languagesOf(language))
	_, is := figure.Claimed(unsigned(result), languagesOf(language))
	for _, a := range of {
		for _, b := range is {
			for _, x := range a.Readings {
				if slices.ContainsFunc(b.Readings, func(y figure.Quantity) bool {
					return x == y || x.Value == y.Value && !strings.ContainsAny(result, "%٪％")
				}) {
					return true
				}
			}
		}
	}
	return false
}

// saysResult reports whether a sentence says a result, as it is written or as the same number.
func saysResult(text, result, language string) bool {
	for at := 0; ; at++ {
		n := strings.Index(text[at:], result)
		if n < 0 {
			break
		}
		at += n
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(result):])
		if !unicode.IsNumber(before) && !unicode.IsNumber(after) {
			return true
		}
	}
	plain, stated := figure.Stated(text, languagesOf(language))
	return slices.ContainsFunc(stated, func(f figure.Figure) bool { return isResult(plain[f.Start:f.End], result, language) })
}

func languagesOf(language string) []string {
	if language == "" {
		return nil
	}
	return []string{language}
}
