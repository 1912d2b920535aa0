/** The variables of a job for its scripts: expands references in values, and writes file variables. */
import { join } from 'node:path'
import type { JobVariable } from './job.ts'

const REFERENCE = /\$(?:\$|(\w+)|\{(\w+)\})|%(\w+)%/g
const DEEPEST = 20
/** Values may reference each other, so a few short values could expand to a very long one. */
const LONGEST_VALUE = 1024 * 1024

export class Variables {
  readonly #byKey = new Map<string, JobVariable>()
  readonly #expanded = new Map<string, string>()
  readonly #fileFolder: string

  /** Later variables win. The value of a file variable is its path in the folder, as the scripts see it. */
  constructor(list: readonly JobVariable[], fileFolder: string) {
    this.#fileFolder = fileFolder
    for (const variable of list) this.#byKey.set(variable.key, variable)
  }

  set(key: string, value: string): void {
    this.#byKey.set(key, { key, value, public: true, file: false, masked: false, raw: true })
    this.#expanded.clear()
  }

  setDefault(key: string, value: string): void {
    if (!this.#byKey.has(key)) this.set(key, value)
  }

  /** Empty if the variable does not exist. */
  get(key: string): string {
    const variable = this.#byKey.get(key)
    if (!variable) return ''
    return variable.file ? join(this.#fileFolder, key) : this.#valueOf(variable, [])
  }

  expand(text: string): string {
    return this.#expand(text, [])
  }

  /** For a script: skips names that no shell can hold. */
  *environment({ onlyPublic = false } = {}): Generator<[string, string]> {
    for (const { key, public: isPublic } of this.#byKey.values())
      if (/^[A-Za-z_]\w*$/.test(key) && (isPublic || !onlyPublic)) yield [key, this.get(key).replaceAll('\0', '')]
  }

  *files(): Generator<{ key: string; content: string }> {
    for (const variable of this.#byKey.values())
      if (variable.file && /^\w+$/.test(variable.key)) yield { key: variable.key, content: this.#valueOf(variable, []) }
  }

  /** Values that a log must never show. */
  *secrets(): Generator<string> {
    for (const variable of this.#byKey.values()) if (variable.masked) yield this.#valueOf(variable, [])
  }

  #valueOf(variable: JobVariable, trail: string[]): string {
    if (variable.raw) return variable.value
    const known = this.#expanded.get(variable.key)
    if (known !== undefined) return known
    const value = this.#expand(variable.value, [...trail, variable.key])
    // Within a cycle, the value depends on where the expansion started, so it is not cached.
    if (trail.length === 0) this.#expanded.set(variable.key, value)
    return value
  }

  #expand(text: string, trail: string[]): string {
    const parts: string[] = []
    let [at, length] = [0, 0]
    const add = (part: string) => {
      length += part.length
      if (length > LONGEST_VALUE) throw new RangeError('a variable becomes too long')
      parts.push(part)
    }
    for (const match of text.matchAll(REFERENCE)) {
      add(text.slice(at, match.index))
      at = match.index + match[0].length
      const name = match[1] ?? match[2] ?? match[3]
      const variable = name === undefined ? undefined : this.#byKey.get(name)
      if (name === undefined) add('$')
      else if (variable && !variable.file && (trail.includes(name) || trail.length > DEEPEST)) add(match[0])
      else if (variable) add(variable.file ? join(this.#fileFolder, name) : this.#valueOf(variable, trail))
      // A percent sign is usually just a percent sign.
      else if (match[3] !== undefined) add(match[0])
    }
    add(text.slice(at))
    return parts.join('')
  }
}
