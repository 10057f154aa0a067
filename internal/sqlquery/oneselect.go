package sqlquery

import "errors"

// OneSelect returns a query without the semicolon at its end, fit to stand in parentheses behind "select * from": there
// nothing but a query that reads can stand. A text by which it could leave the parentheses is refused.
func OneSelect(sql string) (string, error) {
	depth, end := 0, len(sql)
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '\'' || c == '"':
			for i++; i < len(sql) && sql[i] != c; i++ {
			}
			if i == len(sql) {
				return "", errors.New("a quote is not closed")
			}
		case c == '-' && i+1 < len(sql) && sql[i+1] == '-':
			for ; i < len(sql) && sql[i] != '\n'; i++ {
			}
		case c == '/' && i+1 < len(sql) && sql[i+1] == '*', c == '$':
			return "", errors.New("read only: leave out comments in /* */ and texts in $$")
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return "", errors.New("a parenthesis is closed that is not open")
			}
		case c == ';' && end == len(sql):
			end = i
		case end < len(sql) && c > ' ':
			return "", errors.New("read only: give one query, and no statement besides")
		}
	}
	if depth > 0 {
		return "", errors.New("a parenthesis is not closed")
	}
	return sql[:end], nil
}
