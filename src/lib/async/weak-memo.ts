/** Caches the result of `make` per object, for as long as the object lives. */
export function weakMemo<K extends object, V extends object>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>()
  return (key) => {
    let one = made.get(key)
    if (!one) made.set(key, (one = make(key)))
    return one
  }
}
