package driver

import (
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/config"
)

// Charge is what an answer took, as a budget is charged with it.
type Charge struct {
	InputTokens  int64    `json:"input_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"` // null where it was not reported
}

// The most that an attempt can have taken. A larger number is not a measurement,
// and the sum of such numbers would exceed any budget that a person can set.
const (
	MaxTokens  = 10_000_000_000 // read, and as many written
	MaxCostUSD = 100_000
)

// Check returns INVALID_ARGS for a usage that no attempt can have.
func (c Charge) Check() error {
	cost := 0.0
	if c.CostUSD != nil {
		cost = *c.CostUSD
	}
	if c.InputTokens == atMost(c.InputTokens, MaxTokens) && c.OutputTokens == atMost(c.OutputTokens, MaxTokens) && cost == atMost(cost, MaxCostUSD) {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("usage", tidegate.Cut(fmt.Sprintf("%d, %d, %v", c.InputTokens, c.OutputTokens, cost))),
		"usage must have input_tokens and output_tokens from 0 to %d and cost_usd from 0 to %d", int64(MaxTokens), MaxCostUSD)
}

// Bounded is c as it is charged: a number that no attempt can have, positive or
// negative, counts as the most, so that a sum that went wrong never lowers the
// charge.
func (c Charge) Bounded() Charge {
	c.InputTokens, c.OutputTokens = atMost(c.InputTokens, MaxTokens), atMost(c.OutputTokens, MaxTokens)
	if c.CostUSD != nil {
		cost := atMost(*c.CostUSD, MaxCostUSD)
		c.CostUSD = &cost
	}
	return c
}

// atMost is n where it lies between 0 and most, and most where it does not.
func atMost[N int64 | float64](n, most N) N {
	if n >= 0 && n <= most {
		return n
	}
	return most
}

// Tokens are those that were read and written.
func (c Charge) Tokens() float64 { return float64(c.InputTokens) + float64(c.OutputTokens) }

// Include adds what came on top. The sum stops at the most that an attempt can have.
func (c *Charge) Include(more Charge) {
	sum, more := c.Bounded(), more.Bounded()
	sum.InputTokens += more.InputTokens
	sum.OutputTokens += more.OutputTokens
	switch {
	case sum.CostUSD == nil:
		sum.CostUSD = more.CostUSD
	case more.CostUSD != nil:
		*sum.CostUSD += *more.CostUSD
	}
	*c = sum.Bounded()
}

// At gives tokens that come without a cost their price, where there is one.
func (c Charge) At(price *config.Price) Charge {
	if c.CostUSD == nil && price != nil {
		cost := (float64(c.InputTokens)*price.Input + float64(c.OutputTokens)*price.Output) / 1e6
		c.CostUSD = &cost
	}
	return c
}

// GuessedCharge estimates tokens where nobody reports them: a quarter of the bytes that
// went in and out.
func GuessedCharge(in, out int) Charge {
	return Charge{InputTokens: int64(in+3) / 4, OutputTokens: int64(out+3) / 4}
}
