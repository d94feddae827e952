package hip

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// credential is what a netrc file holds for one machine.
type credential struct {
	machine  string // "" for the default entry
	login    string
	password string
}

// authorization returns the header value: a bearer token when there is no login or
// the login is "bearer", basic credentials otherwise.
func (c credential) authorization() string {
	if c.login == "" || strings.EqualFold(c.login, "bearer") {
		return "Bearer " + c.password
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.login+":"+c.password))
}

// parseNetrc reads the format that ftp, curl and git read: tokens "machine NAME",
// "default", "login L", "password P", "account A", and "macdef" up to a blank line.
// "#" at the start of a line begins a comment.
func parseNetrc(text string) []credential {
	var out []credential
	var word string // the keyword whose value comes next
	macro := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if macro {
			macro = trimmed != ""
			continue
		}
		if strings.HasPrefix(trimmed, "#") {
			continue
		}
		for _, tok := range strings.Fields(trimmed) {
			switch word {
			case "machine":
				out = append(out, credential{machine: strings.ToLower(tok)})
			case "login":
				if len(out) > 0 {
					out[len(out)-1].login = tok
				}
			case "password":
				if len(out) > 0 {
					out[len(out)-1].password = tok
				}
			case "macdef":
				macro = true
			case "account":
			default:
				switch tok {
				case "default":
					out = append(out, credential{})
				case "machine", "login", "password", "macdef", "account":
					word = tok
				}
				continue
			}
			word = ""
			if macro {
				break
			}
		}
	}
	return out
}

// lookupNetrc returns the Authorization header for host from the file at path, or
// "" when there is no file or no entry. path empty means NETRC, then ~/.netrc.
func lookupNetrc(path, host string, getenv func(string) string) (string, error) {
	named := path != ""
	if !named {
		if path = getenv("NETRC"); path == "" {
			home := getenv("HOME")
			if home == "" {
				return "", nil
			}
			path = filepath.Join(home, ".netrc")
		}
	}
	b, err := readBounded(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return "", nil
	}
	if err != nil {
		if !named && errors.Is(err, os.ErrPermission) {
			return "", nil
		}
		return "", fmt.Errorf("reading credentials: %w", err)
	}
	for _, c := range parseNetrc(string(b)) {
		if (c.machine == "" || c.machine == strings.ToLower(host)) && c.password != "" {
			return c.authorization(), nil
		}
	}
	return "", nil
}
