package planted

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// handshake is how a host proves its identity, or fails to. Certificates are valid
// in a bubble's year 2000 as well as today.
func (w *Web) handshake(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	s := w.sites[hello.ServerName]
	if s == nil {
		return nil, fmt.Errorf("no site %s", hello.ServerName)
	}
	name, by, from, to := s.host, w.issuer, 1990, 2100
	config := &tls.Config{NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
	switch s.tls {
	case "expired":
		to = 1999
	case "not yet":
		from = 2099
	case "self-signed":
		by = newIssuer()
		config.Certificates = []tls.Certificate{by.own}
		return config, nil
	case "unknown issuer":
		by = newIssuer()
	case "other name":
		name = "elsewhere.example"
	case "old version":
		config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	}
	config.Certificates = []tls.Certificate{by.certificate(name, from, to)}
	return config, nil
}

// issuer signs certificates.
type issuer struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	own  tls.Certificate

	mu   sync.Mutex
	made map[string]tls.Certificate
}

func newIssuer() *issuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the system has no randomness
	}
	i := &issuer{key: key, made: map[string]tls.Certificate{}}
	i.cert = template("Planted Web", 1990, 2100)
	i.cert.IsCA, i.cert.BasicConstraintsValid, i.cert.KeyUsage = true, true, x509.KeyUsageCertSign
	i.own = i.sign(i.cert)
	return i
}

func (i *issuer) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(i.own.Leaf)
	return pool
}

// certificate is a certificate for a name, valid from the beginning of one year to
// the beginning of another.
func (i *issuer) certificate(name string, from, to int) tls.Certificate {
	i.mu.Lock()
	defer i.mu.Unlock()
	key := fmt.Sprint(name, from, to)
	if _, ok := i.made[key]; !ok {
		i.made[key] = i.sign(template(name, from, to))
	}
	return i.made[key]
}

func template(name string, from, to int) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(to, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

func (i *issuer) sign(template *x509.Certificate) tls.Certificate {
	der, err := x509.CreateCertificate(rand.Reader, template, i.cert, &i.key.PublicKey, i.key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: i.key, Leaf: leaf}
}
