package evidence

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/figure"
)

// The limits of a calculation.
const (
	maxOperands = 40
	maxDepth    = 20
	maxDigits   = 24
)

// quantity is a number of a calculation.
type quantity struct {
	figure.Written
	text   string
	digits *big.Rat // without magnitude and percent sign
}

// value is the number itself.
func (q quantity) value() *big.Rat { return new(big.Rat).Mul(q.digits, q.unit()) }

// unit is what the digits count: a million, a hundredth.
func (q quantity) unit() *big.Rat {
	unit := tenTo(q.Power)
	if q.Percent {
		unit.Quo(unit, tenTo(2))
	}
	return unit
}

func tenTo(power int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(power)), nil))
}

// parseQuantity reads the number that a text begins with.
func parseQuantity(text, language string) (quantity, error) {
	w, ok := figure.ReadWritten(text, language)
	if !ok {
		return quantity{}, fmt.Errorf("%q is no number", cutTo(strings.TrimSpace(text), 20))
	}
	digits, _ := new(big.Rat).SetString(w.Whole + "." + w.Fraction + "0")
	return quantity{w, text[:w.Len], digits}, nil
}

var errDivision = errors.New("it divides by zero")

// expression computes while it parses: the value of a formula is never kept as a tree.
// After the first error every value is zero and nothing is read on.
type expression struct {
	rest     string
	language string
	operands []Operand
	terms    []span // the operands of each that is added or subtracted
	depth    int
	err      error
}

// parseExpression reads a formula and computes it exactly. Terms are the operands of each
// product that is added or subtracted.
func parseExpression(text, language string) (value *big.Rat, operands []Operand, terms []span, err error) {
	e := expression{rest: text, language: language}
	value = e.sum()
	if e.peek() != 0 {
		e.fail(fmt.Errorf("%q is no part of a formula", cutTo(strings.TrimSpace(e.rest), 20)))
	}
	return value, e.operands, e.terms, e.err
}

func (e *expression) fail(err error) *big.Rat {
	if e.err == nil {
		e.err, e.rest = err, ""
	}
	return new(big.Rat)
}

// peek is the next sign that is no blank, 0 at the end, in the form that all its
// spellings share.
func (e *expression) peek() rune {
	e.rest = strings.TrimLeftFunc(e.rest, unicode.IsSpace)
	if e.rest == "" {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(e.rest)
	switch r {
	case '×', '·':
		return '*'
	case '÷', '∕':
		return '/'
	case '−', '–':
		return '-'
	}
	return r
}

// take reads one of some signs, 0 where another follows.
func (e *expression) take(signs string) rune {
	sign := e.peek()
	if sign == 0 || !strings.ContainsRune(signs, sign) {
		return 0
	}
	_, size := utf8.DecodeRuneInString(e.rest)
	e.rest = e.rest[size:]
	return sign
}

func (e *expression) sum() *big.Rat {
	from := len(e.operands)
	value := e.product()
	for sign := e.take("+-"); sign != 0; sign = e.take("+-") {
		right := len(e.operands)
		by := e.product()
		if sign == '-' {
			by.Neg(by)
		}
		value.Add(value, by)
		e.terms = append(e.terms, span{from, right}, span{right, len(e.operands)})
	}
	return value
}

func (e *expression) product() *big.Rat {
	from := len(e.operands)
	value := e.factor()
	for {
		sign, right := e.take("*/"), len(e.operands)
		if sign == 0 {
			return value
		}
		by := e.factor()
		e.multiplies(from, right)
		e.multiplies(right, len(e.operands))
		switch {
		case sign == '*':
			value.Mul(value, by)
		case by.Sign() == 0:
			return e.fail(errDivision)
		default:
			value.Quo(value, by)
		}
	}
}

// multiplies notes that a factor is a single operand, where it is one.
func (e *expression) multiplies(from, to int) {
	if to-from == 1 {
		e.operands[from].factor = true
	}
}

func (e *expression) factor() *big.Rat {
	switch sign := e.take("-("); {
	case sign != 0:
		if e.depth++; e.depth > maxDepth {
			return e.fail(fmt.Errorf("it is nested deeper than %d", maxDepth))
		}
		defer func() { e.depth-- }()
		if sign == '-' {
			value := e.factor()
			return value.Neg(value)
		}
		value := e.sum()
		if e.take(")") == 0 {
			e.fail(errors.New("a parenthesis is not closed"))
		}
		return value
	case e.rest == "":
		return e.fail(errors.New("a number is missing at its end"))
	case len(e.operands) == maxOperands:
		return e.fail(fmt.Errorf("it has more than %d numbers", maxOperands))
	}
	q, err := parseQuantity(e.rest, e.language)
	if err != nil {
		return e.fail(err)
	}
	e.rest = e.rest[q.Len:]
	e.operands = append(e.operands, Operand{Text: q.text, quantity: q})
	return q.value()
}
