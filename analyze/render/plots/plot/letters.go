package plot

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"

	imagefont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
)

// The fonts are the measures of Liberation Sans without its outlines: text is drawn by who shows it.
// They are no fonts to draw with, and under the license that stands in them, the SIL Open Font License
// 1.1. TestWidths makes them.
var (
	//go:embed regular.ttf.gz
	regular []byte
	//go:embed bold.ttf.gz
	bold []byte
)

// TextHandler measures and lays out text in Liberation Sans, regular and bold, whose
// metrics Arial and Helvetica share. The fonts are parsed when it is first needed.
var TextHandler = sync.OnceValue(func() text.Handler {
	return text.Plain{Fonts: font.NewCache(font.Collection{
		face(imagefont.WeightNormal, regular),
		face(imagefont.WeightBold, bold),
	})}
})

func unpacked(data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		panic(err) // the fonts are part of the program
	}
	ttf, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return ttf
}

func face(weight imagefont.Weight, data []byte) font.Face {
	parsed, err := opentype.Parse(unpacked(data))
	if err != nil {
		panic(err) // the fonts are part of the program
	}
	return font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight}, Face: parsed}
}
