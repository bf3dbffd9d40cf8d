package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// Forms are those that were shown and may be sent, once each.
type Forms struct {
	mu    sync.Mutex
	shown map[string]shownForm // by token
}

type shownForm struct {
	purpose [sha256.Size]byte // its digest: what was filled in may be long
	at      time.Time
}

// The limits of forms that nobody has sent yet.
const (
	maxForms = 1000
	formLife = 30 * time.Minute
)

// Issue makes the token of a form that serves one purpose.
func (f *Forms) Issue(now time.Time, purpose string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shown == nil {
		f.shown = map[string]shownForm{}
	}
	oldest := ""
	for token, form := range f.shown {
		if now.Sub(form.at) > formLife {
			delete(f.shown, token)
		} else if oldest == "" || form.at.Before(f.shown[oldest].at) {
			oldest = token
		}
	}
	if len(f.shown) >= maxForms {
		delete(f.shown, oldest)
	}
	token := rand.Text()
	f.shown[token] = shownForm{sha256.Sum256([]byte(purpose)), now}
	return token
}

// Take uses up a token. It reports whether the token was made for that purpose, not
// long ago.
func (f *Forms) Take(now time.Time, token, purpose string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	form, ok := f.shown[token]
	delete(f.shown, token)
	return ok && form.purpose == sha256.Sum256([]byte(purpose)) && now.Sub(form.at) <= formLife
}
