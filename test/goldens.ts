/** Compares messages with examples: ids, times, hashes and URLs of a run are normalised on both sides. */

const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/https?:\/\/(127\.0\.0\.1:\d+|forge\.example\.com)/g, '<forge>'],
  [/\b[0-9a-f]{40}\b/g, '<sha>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|\+00:00)/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\b/g, '<row time>'],
  [/\b\d{4}-\d\d-\d\d$/g, '<date>'],
  [/\/-\/(jobs|pipelines)\/\d+/g, '/-/$1/<id>'],
]

export function comparable(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => comparable(one, key))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, comparable(one, name)]))
  if (typeof value === 'number' && /(^|_)id$/.test(key)) return '<id>'
  if ((typeof value === 'number' || value === null) && key.endsWith('duration')) return '<seconds>'
  if (typeof value !== 'string') return value
  if (key === 'short_sha') return value.replace(/^[0-9a-f]{8}$/, '<sha>')
  return TEXTS.reduce((text, [pattern, shown]) => text.replace(pattern, shown), value)
}
