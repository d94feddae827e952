package corpus

import (
	"path"
	"strings"
)

// nearest returns the candidate most like word, or "" when none is close enough
// to be a plausible slip. Ties go to the earlier candidate.
func nearest(word string, candidates []string) string {
	best, bestCost := "", max(1, min(len(word)/3, 8))+1
	for _, c := range candidates {
		if abs(len(c)-len(word)) >= bestCost {
			continue
		}
		if d := editDistance(word, c, bestCost); d < bestCost {
			best, bestCost = c, d
		}
	}
	return best
}

// nearestPath is nearest for slash-separated paths: a path with the same last
// element wins over one that merely reads alike.
func nearestPath(p string, candidates []string) string {
	base, shared, best := path.Base(p), -1, ""
	for _, c := range candidates {
		if path.Base(c) != base || c == p {
			continue
		}
		if n := commonElements(p, c); n > shared {
			shared, best = n, c
		}
	}
	if best != "" {
		return best
	}
	return nearest(p, candidates)
}

// commonElements counts how many path elements a and b have in common at
// either end.
func commonElements(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for i := 0; i < min(len(as), len(bs)) && as[i] == bs[i]; i++ {
		n++
	}
	for i := 1; i <= min(len(as), len(bs)) && as[len(as)-i] == bs[len(bs)-i]; i++ {
		n++
	}
	return n
}

// editDistance is the Levenshtein distance of a and b in bytes, or limit when
// it is at least that.
func editDistance(a, b string, limit int) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal, smallest := row[0], i
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
			smallest = min(smallest, row[j])
		}
		if smallest >= limit {
			return limit
		}
	}
	return row[len(b)]
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
