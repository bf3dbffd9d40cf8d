package temporal

import (
	"context"

	"go.temporal.io/sdk/converter"
)

func retrieving(ctx context.Context) converter.StorageDriverRetrieveContext {
	return converter.StorageDriverRetrieveContext{Context: ctx}
}

func claimsOf(digests ...string) []converter.StorageDriverClaim {
	var claims []converter.StorageDriverClaim
	for _, digest := range digests {
		claims = append(claims, converter.StorageDriverClaim{ClaimData: map[string]string{claimDigest: digest}})
	}
	return claims
}
