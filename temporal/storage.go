package temporal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/tidegate/tidegate"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// storage keeps messages that are too large for the server in a bucket of S3 or of
// what speaks its protocol; the server gets their names. Names are digests, so the
// same message is one object, and one that was changed is noticed. Messages arrive
// here as the codec made them: with a payload key, encrypted.
type storage struct {
	client *s3.Client
	bucket string
	prefix string
}

// newStorage is the storage that s3://BUCKET/PREFIX names. Region, endpoint and
// credentials come from where the AWS command line takes them.
func newStorage(ctx context.Context, name string) (*storage, error) {
	rest, ok := strings.CutPrefix(name, "s3://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("storage", name), "%q names no storage; expected s3://BUCKET or s3://BUCKET/PREFIX", name)
	}
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("storage", name), "the settings of %s cannot be read: %w", name, err)
	}
	// Most servers that speak the protocol have buckets in the path, not in the host.
	client := s3.NewFromConfig(settings, func(o *s3.Options) { o.UsePathStyle = o.BaseEndpoint != nil })
	return &storage{client, bucket, strings.Trim(prefix, "/")}, nil
}

// Name is the name by which the server's claims know the storage.
func (s *storage) Name() string { return "tidegate-s3" }

// Type is the kind of storage.
func (s *storage) Type() string { return "tidegate-s3" }

const claimDigest = "sha256"

// Store keeps payloads and returns a claim for each.
func (s *storage) Store(ctx converter.StorageDriverStoreContext, payloads []*commonpb.Payload) ([]converter.StorageDriverClaim, error) {
	claims := make([]converter.StorageDriverClaim, len(payloads))
	for i, p := range payloads {
		data, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		digest := hex.EncodeToString(sum[:])
		_, err = s.client.PutObject(ctx.Context, &s3.PutObjectInput{Bucket: &s.bucket, Key: s.key(digest), Body: bytes.NewReader(data)})
		if err != nil {
			return nil, fmt.Errorf("a message of %d bytes cannot be kept in the bucket %s: %w", len(data), s.bucket, err)
		}
		claims[i] = converter.StorageDriverClaim{ClaimData: map[string]string{claimDigest: digest}}
	}
	return claims, nil
}

// Retrieve returns the payload of each claim.
func (s *storage) Retrieve(ctx converter.StorageDriverRetrieveContext, claims []converter.StorageDriverClaim) ([]*commonpb.Payload, error) {
	payloads := make([]*commonpb.Payload, len(claims))
	room := int64(maxPayload) // for all of them together
	for i, claim := range claims {
		digest := claim.ClaimData[claimDigest]
		if raw, err := hex.DecodeString(digest); err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("a claim names no message")
		}
		object, err := s.client.GetObject(ctx.Context, &s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(digest)})
		if err != nil {
			return nil, fmt.Errorf("the message %s cannot be read from the bucket %s: %w", digest, s.bucket, err)
		}
		data, err := io.ReadAll(io.LimitReader(object.Body, room))
		object.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("the message %s cannot be read from the bucket %s: %w", digest, s.bucket, err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
			return nil, fmt.Errorf("the message %s in the bucket %s was changed", digest, s.bucket)
		}
		room -= int64(len(data))
		payloads[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(data, payloads[i]); err != nil {
			return nil, err
		}
	}
	return payloads, nil
}

func (s *storage) key(digest string) *string { return aws.String(path.Join(s.prefix, digest)) }
