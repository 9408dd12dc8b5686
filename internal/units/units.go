// Package units puts quantities in words for people.
package units

import "fmt"

// Bytes is n bytes in the decimal unit that suits it: 999 B, 1.0 kB, 27.1 MB, 5.00 GB.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}
