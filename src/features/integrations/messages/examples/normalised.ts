/** Replaces times, hashes and URLs in bodies with fixed values. */
import { createHash } from 'node:crypto'

const ROW_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const HASH = /(?<![0-9a-f])(?!0{40})[0-9a-f]{40}(?![0-9a-f])/g

/** Each hash becomes a hash of its position in the body. */
export function normalised(body: unknown, url: string): object {
  const hashes = new Map<string, string>()
  const hashOf = (hash: string) => {
    const known = hashes.get(hash) ?? createHash('sha1').update(String(hashes.size)).digest('hex')
    hashes.set(hash, known)
    return known
  }
  const host = url.replace(/^https?:\/\//, '')
  const text = (value: string) => {
    if (ROW_TIME.test(value)) return '2026-11-16 10:00:00 UTC'
    if (ISO_TIME.test(value)) return '2026-11-16T10:00:00.000+00:00'
    return value
      .replaceAll(url, 'https://forge.example.com')
      .replaceAll(host, 'forge.example.com')
      .replace(HASH, hashOf)
  }
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one)]))
  }
  return walk(body) as object
}
