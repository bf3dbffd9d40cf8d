package seal

import "context"

// Sign makes an SSH signature over a message, in the namespace of tidegate.
type Sign func(ctx context.Context, message []byte) (armored []byte, err error)
