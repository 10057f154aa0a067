package ranks

import "strconv"

// Rename takes the names of machines and groups out of a job and what was found out about it: hosts are numbered, and text
// gives the new name of a group.
func (j *Job) Rename(v *Verdict, text func(string) string) {
	hosts := map[string]string{}
	for m := range j.Members {
		x := &j.Members[m]
		if x.Host == "" {
			continue
		}
		if _, ok := hosts[x.Host]; !ok {
			hosts[x.Host] = "host " + strconv.Itoa(len(hosts))
		}
		x.Host = hosts[x.Host]
	}
	for g := range j.Groups {
		j.Groups[g].Name, j.Groups[g].Desc = text(j.Groups[g].Name), text(j.Groups[g].Desc)
	}
	for i := range v.Stragglers {
		s := &v.Stragglers[i]
		if host, ok := hosts[s.Name]; ok && s.Unit == "host" {
			s.Name = host
		} else if s.Unit == "group" {
			s.Name = text(s.Name)
		}
	}
}
