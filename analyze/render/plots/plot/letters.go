package plot

import (
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	imagefont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
)

// TextHandler measures and lays out text in Liberation Sans, regular and bold, whose
// metrics Arial and Helvetica share. The fonts are parsed when it is first needed.
var TextHandler = sync.OnceValue(func() text.Handler {
	return text.Plain{Fonts: font.NewCache(font.Collection{
		face(imagefont.WeightNormal, liberationsansregular.TTF),
		face(imagefont.WeightBold, liberationsansbold.TTF),
	})}
})

func face(weight imagefont.Weight, ttf []byte) font.Face {
	parsed, err := opentype.Parse(ttf)
	if err != nil {
		panic(err) // the fonts are part of the program
	}
	return font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight}, Face: parsed}
}
