package seal

import "context"

// Sign makes an SSH signature over a message, in the namespace of tidegate.
type Sign func(ctx context.Context, message []byte) (armored []byte, err error)

type signKey struct{}

// WithSign is ctx for a person's decision that may have to be signed.
func WithSign(ctx context.Context, sign Sign) context.Context {
	return context.WithValue(ctx, signKey{}, sign)
}

// SignOf is how the person signs, nil where no key was named.
func SignOf(ctx context.Context) Sign {
	sign, _ := ctx.Value(signKey{}).(Sign)
	return sign
}
