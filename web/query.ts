/** Serializes parameters for the API and our own URLs: `labels[]=a&not[state]=closed`. */
export function queryText(fields: Record<string, unknown>): string {
  const query = new URLSearchParams()
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return
    if (Array.isArray(value)) for (const one of value) add(`${name}[]`, one)
    else if (typeof value === 'object') for (const [key, one] of Object.entries(value)) add(`${name}[${key}]`, one)
    else query.append(name, String(value as string | number | boolean))
  }
  for (const [name, value] of Object.entries(fields)) add(name, value)
  return query.toString()
}

/** The same URL with changed parameters; null removes one. A new filter starts at the first page. */
export function withQuery(address: string, changes: Record<string, string | number | null>): string {
  const [path = '', text = ''] = address.split('?', 2)
  const query = new URLSearchParams(text)
  if (!('page' in changes)) query.delete('page')
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name)
    else query.set(name, String(value))
  }
  return query.size > 0 ? `${path}?${query}` : path
}
