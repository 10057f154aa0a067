package anonymize

import (
	"strconv"
	"strings"

	"overlay/internal/vendors"
)

// Hints are kept from what is replaced, because analyses read them: who runs one on the result gets the same answer.
var (
	phaseHint   = lazy(`^(?i:forward|fwd|fw|backward|bwd|bw|optimizer|optim|opt_step|zero_grad|clip_grad|grad_clip|loss|criterion|inference|generate|prefill|decode|load_batch|data_load|dataload|dataloader|copy_batch_to_gpu|wait_for_batch|update_params)$`)
	backwardEnd = lazy(`Backward\d*$`)
	fusedStart  = lazy(`^triton_(poi|red|per|tem|for)_(fused_)?`)
)

// codeText is the name of a function, an operator or a kernel: of its qualified identifiers the known part stays.
func codeText(prefix, s string) string {
	if regions().MatchString(s) {
		return s
	}
	for i := 0; i < len(s); i++ {
		if !isWord(s[i]) && strings.IndexByte(codeSigns, s[i]) < 0 {
			return withHint(pseudonym(prefix, s), s)
		}
	}
	if machine().MatchString(s) {
		return withHint(pseudonym(prefix, s), s)
	}
	var out []byte
	hidden := false // the qualified name has ended in a pseudonym
	for i := 0; i < len(s); {
		if !isWord(s[i]) {
			if strings.HasPrefix(s[i:], "::") {
				if i += 2; !hidden {
					out = append(out, "::"...)
				}
				continue
			}
			hidden = false
			out = append(out, s[i])
			i++
			continue
		}
		end := i
		for end < len(s) && isWord(s[end]) {
			end++
		}
		id := s[i:end]
		i = end
		if hidden {
			continue
		}
		if safe, ok := identifier(id); ok {
			out = append(out, safe...)
			continue
		}
		hidden = true
		if id == s { // nothing beside it says what it is
			out = append(out, prefix...)
		}
		out = append(out, fusedStart().FindString(id)...)
		out = append(out, withHint(pseudonym("x", s+"\x00"+id), id)...)
		out = append(out, backwardEnd().FindString(id)...)
	}
	return string(out)
}

// withHint adds the collective that a name speaks of.
func withHint(p, name string) string {
	if h := vendors.CollectiveIn(name); h != "" {
		return p + "_" + strings.ToLower(h)
	}
	return p
}

// identifier is an identifier that may stay, as it is or with parts replaced.
func identifier(id string) (string, bool) {
	switch {
	case strings.HasPrefix(id, "_Z"):
		return id, isMangled(id)
	case strings.HasPrefix(id, "Cijk_"):
		return id, isTensile(id)
	}
	return id, isKnown(id)
}

// letters are the runs of letters in a name.
var letters = lazy(`[A-Za-z]+`)

// isTensile reports whether a name is a solution of Tensile with parameters that it has, as MT128x64x32 or 1LDSB0.
func isTensile(id string) bool {
	for _, w := range letters().FindAllString(strings.TrimPrefix(id, "Cijk_"), -1) {
		if short := strings.TrimSuffix(w, "n"); len(short) > 1 && !tensile()[w] && !tensile()[short] { // n is a negative value
			return false
		}
	}
	return true
}

// mangling is a piece of an encoded C++ name that is no identifier: back references, literals, types, structure.
var mangling = lazy(`^(?:S[0-9A-Z]*_|S[tabsiod]|T[0-9]*_|L[a-z]n?\d+E|\d+E|DF\d+[_b]|D[a-z]|[NIJLEXPRKOVFAMDGUCZ_]|[vwbcahstijlmxynofdegzru]{1,16})`)

// isMangled reports whether all identifiers in a name that a C++ compiler encoded are known. They have their length in
// front; what stands between them is letters for types and structure.
func isMangled(id string) bool {
	names, types := 0, false
	for i := 2; i < len(id); {
		end := i
		for end < len(id) && isDigit(id[end]) {
			end++
		}
		if n, err := strconv.Atoi(id[i:end]); err == nil && n > 0 && n <= len(id)-end {
			if name := id[end : end+n]; isKnown(name) || strings.HasPrefix(name, "_GLOBAL__N_") {
				names, types = names+1, false
				i = end + n
				continue
			}
		}
		m := mangling().FindString(id[i:])
		lower := m != "" && m[0] >= 'a'

		if m == "" || lower && types { // no function has that many types in a row
			return false
		}
		types = lower
		i += len(m)
	}
	return names > 0
}
