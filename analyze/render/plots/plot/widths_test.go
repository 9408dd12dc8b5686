package plot

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"flag"
	"os"
	"slices"
	"testing"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	imagefont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

var update = flag.Bool("update", false, "write the fonts without outlines")

// measured are the tables of a font by which text is measured, and its name, copyright and license.
var measured = []string{"GPOS", "OS/2", "cmap", "head", "hhea", "hmtx", "kern", "maxp", "name"}

type table struct {
	tag  string
	data []byte
}

// withoutOutlines is a font with the measures of another one, in which every letter is empty: its
// letters are never drawn.
func withoutOutlines(ttf []byte) []byte {
	var tables []table
	glyphs := 0
	for i := range int(binary.BigEndian.Uint16(ttf[4:])) {
		row := ttf[12+16*i:]
		from, length := binary.BigEndian.Uint32(row[8:]), binary.BigEndian.Uint32(row[12:])
		t := table{string(row[:4]), slices.Clone(ttf[from : from+length])}
		if !slices.Contains(measured, t.tag) {
			continue
		}
		switch t.tag {
		case "head":
			binary.BigEndian.PutUint16(t.data[50:], 0) // short offsets to letters
		case "maxp":
			glyphs = int(binary.BigEndian.Uint16(t.data[4:]))
		}
		tables = append(tables, t)
	}
	post := make([]byte, 32)
	binary.BigEndian.PutUint32(post, 0x30000) // no names of letters
	tables = append(tables, table{"glyf", make([]byte, 4)}, table{"loca", make([]byte, 2*(glyphs+1))},
		table{"post", post})
	slices.SortFunc(tables, func(a, b table) int { return bytes.Compare([]byte(a.tag), []byte(b.tag)) })
	return assemble(ttf[:4], tables)
}

// assemble writes tables in the order of their tags, each at a multiple of four bytes.
func assemble(kind []byte, tables []table) []byte {
	out := binary.BigEndian.AppendUint16(slices.Clone(kind), uint16(len(tables)))
	out = append(out, make([]byte, 6)...) // for binary searches, which nobody makes
	at := len(out) + 16*len(tables)
	for _, t := range tables {
		out = append(out, t.tag...)
		out = binary.BigEndian.AppendUint32(out, 0) // no checksum
		out = binary.BigEndian.AppendUint32(out, uint32(at))
		out = binary.BigEndian.AppendUint32(out, uint32(len(t.data)))
		at += (len(t.data) + 3) &^ 3
	}
	for _, t := range tables {
		out = append(out, t.data...)
		out = append(out, make([]byte, -len(t.data)&3)...)
	}
	return out
}

// The fonts that are part of the program have the measures of Liberation Sans, letter by letter and
// pair by pair. -update makes them.
func TestWidths(t *testing.T) {
	for _, font := range []struct {
		file       string
		ours, full []byte
	}{
		{"regular.ttf.gz", regular, liberationsansregular.TTF}, {"bold.ttf.gz", bold, liberationsansbold.TTF},
	} {
		made := withoutOutlines(font.full)
		if *update {
			var b bytes.Buffer
			z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
			z.Write(made)
			if err := errors.Join(z.Close(), os.WriteFile(font.file, b.Bytes(), 0o666)); err != nil {
				t.Fatal(err)
			}
			font.ours = b.Bytes()
		}
		if !bytes.Equal(made, unpacked(font.ours)) {
			t.Errorf("%s is not made of today's font", font.file)
		}
		sameMeasures(t, faceOf(t, made), faceOf(t, font.full))
	}
}

func faceOf(t *testing.T, ttf []byte) imagefont.Face {
	t.Helper()
	parsed, err := opentype.Parse(ttf)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 1000, DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	return face
}

func sameMeasures(t *testing.T, ours, full imagefont.Face) {
	t.Helper()
	if ours.Metrics() != full.Metrics() {
		t.Errorf("metrics %v, want %v", ours.Metrics(), full.Metrics())
	}
	widths := make(map[fixed.Int26_6]bool)
	for r := rune(0); r < 0x20000; r++ {
		a, okA := ours.GlyphAdvance(r)
		b, okB := full.GlyphAdvance(r)
		if a != b || okA != okB {
			t.Fatalf("%U: %v %v, want %v %v", r, a, okA, b, okB)
		}
		widths[a] = true
	}
	kerned := 0
	for a := rune(' '); a < 0x180; a++ {
		for b := rune(' '); b < 0x180; b++ {
			k := full.Kern(a, b)
			if got := ours.Kern(a, b); got != k {
				t.Fatalf("%c%c: %v, want %v", a, b, got, k)
			}
			if k != 0 {
				kerned++
			}
		}
	}
	if len(widths) < 20 || kerned < 20 {
		t.Errorf("%d widths and %d pairs tell nothing", len(widths), kerned)
	}
}
