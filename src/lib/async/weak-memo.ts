/** Caches the result of `make` per object, for as long as the object lives. */
export function weakMemo<K extends object, V extends object>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>()
  return (key) => {
    let one = made.get(key)
    if (!one) made.set(key, (one = make(key)))
    return one
  }
}

/** The same for promises. A rejected one is forgotten, so that the next call tries again. */
export function weakMemoAsync<K extends object, V>(make: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const made = new WeakMap<K, Promise<V>>()
  return (key) => {
    const known = made.get(key)
    if (known) return known
    const one = make(key)
    made.set(key, one)
    one.catch(() => made.delete(key))
    return one
  }
}
