package web

// cache keeps what was asked for last, within a number of bytes. It is not safe for concurrent
// use.
type cache struct {
	most, held int64
	items      []item // the last one was asked for last
}

type item struct {
	key  string
	data []byte
}

// put keeps data, even where it alone is too much: it was just asked for.
func (c *cache) put(key string, data []byte) {
	c.drop(key)
	c.items = append(c.items, item{key, data})
	c.held += int64(len(data))
	for c.held > c.most && len(c.items) > 1 {
		c.drop(c.items[0].key)
	}
}

func (c *cache) get(key string) ([]byte, bool) {
	for i, it := range c.items {
		if it.key == key {
			c.items = append(append(c.items[:i:i], c.items[i+1:]...), it)
			return it.data, true
		}
	}
	return nil, false
}

func (c *cache) drop(key string) {
	for i, it := range c.items {
		if it.key == key {
			c.held -= int64(len(it.data))
			c.items = append(c.items[:i:i], c.items[i+1:]...)
			return
		}
	}
}
