/**
 * YAML 1.1 as CI files use it: anchors, merge keys, `!reference`, `yes` and `off`. Values of aliases are shared, never
 * copied, and their expanded size is limited.
 */
import { EVENT_ID, SCALAR_STYLE, YAMLException, getScalarValue, parseEvents, type ScalarEvent } from 'js-yaml'
import {
  ConfigFault,
  Reference,
  isMapping,
  markOf,
  newMapping,
  put,
  tooBig,
  type Mapping,
  type Mark,
  type Value,
} from './tree.ts'

const LONGEST_TEXT = 1024 * 1024
const DEEPEST = 100
/** The limit of nodes that aliases and merge keys stand for. */
const MOST_ALIASED = 100_000

/** Fills the marks in a text. Null if the text has none. */
export type Fill = (text: string, mark: Mark) => { readonly value: Value; readonly isWhole: boolean } | null

export interface Source {
  readonly file: string
  readonly text: string
  /** The number of lines before this text in its file. */
  readonly linesBefore?: number
  readonly fill?: Fill
}

/** The first document, or null. */
export function parseYaml(source: Source): Value {
  if (source.text.length > LONGEST_TEXT) throw tooBig()
  // A byte order mark is not part of the first key.
  const text = source.text.startsWith('\uFEFF') ? source.text.slice(1) : source.text
  return new Builder({ ...source, text }).build()
}

interface Frame {
  readonly container: Value[] | Mapping
  readonly tag: string
  readonly mark: Mark
  readonly anchor: string | null
  nodes: number
  /** For a mapping: the key whose value comes next. */
  key?: { readonly name: string; readonly mark: Mark; readonly merges: boolean } | undefined
}

class Builder {
  readonly #source: Source
  readonly #starts: number[]
  #line = 0
  readonly #frames: Frame[] = []
  readonly #anchors = new Map<string, Value>()
  readonly #nodes = new Map<object, number>()
  #aliased = 0
  #result: Value = null

  constructor(source: Source) {
    this.#source = source
    this.#starts = [0]
    for (let at = source.text.indexOf('\n'); at >= 0; at = source.text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
  }

  build(): Value {
    const { text } = this.#source
    for (const event of this.#events()) {
      if (event.type === EVENT_ID.SEQUENCE) this.#open([], event.start, this.#tagOf(event), this.#anchorOf(event))
      else if (event.type === EVENT_ID.MAPPING)
        this.#open(newMapping(), event.start, this.#tagOf(event), this.#anchorOf(event))
      else if (event.type === EVENT_ID.ALIAS)
        this.#alias(text.slice(event.anchorStart, event.anchorEnd), event.anchorStart)
      else if (event.type === EVENT_ID.SCALAR) this.#scalar(event)
      // Reading stops at the end of the first document.
      else if (event.type === EVENT_ID.POP && !this.#close()) break
    }
    return this.#result
  }

  #events() {
    try {
      return parseEvents(this.#source.text, { maxDepth: DEEPEST })
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error
      const { reason, mark } = error
      if (reason.includes('maxDepth')) throw tooBig()
      const { line, column } = {
        line: (mark?.line ?? 0) + 1 + (this.#source.linesBefore ?? 0),
        column: (mark?.column ?? 0) + 1,
      }
      const { file } = this.#source
      throw new ConfigFault(`(${file}): ${reason} at line ${line} column ${column}`, { file, line, column })
    }
  }

  /** Offsets must be requested in ascending order. */
  #markAt(offset: number): Mark {
    while (this.#line + 1 < this.#starts.length && this.#starts[this.#line + 1]! <= offset) this.#line++
    const column = offset - this.#starts[this.#line]! + 1
    return { file: this.#source.file, line: this.#line + 1 + (this.#source.linesBefore ?? 0), column }
  }

  #tagOf(event: { tagStart: number; tagEnd: number }): string {
    return event.tagStart < 0 ? '' : this.#source.text.slice(event.tagStart, event.tagEnd)
  }

  #anchorOf(event: { anchorStart: number; anchorEnd: number }): string | null {
    return event.anchorStart < 0 ? null : this.#source.text.slice(event.anchorStart, event.anchorEnd)
  }

  #open(container: Value[] | Mapping, start: number, tag: string, anchor: string | null): void {
    const mark = this.#markAt(start)
    const parent = this.#frames.at(-1)
    if (parent && !Array.isArray(parent.container) && !parent.key) throw noKey(mark)
    if (anchor !== null) this.#anchors.set(anchor, container)
    this.#frames.push({ container, tag, mark, anchor, nodes: 1 })
  }

  #close(): boolean {
    const frame = this.#frames.pop()
    if (!frame) return false
    const { container, tag, mark, anchor, nodes } = frame
    this.#nodes.set(container, nodes)
    if (tag !== '!reference' || !Array.isArray(container)) this.#add(container, nodes)
    else {
      const reference = new Reference(container, mark)
      if (anchor !== null) this.#anchors.set(anchor, reference)
      this.#add(reference, nodes)
    }
    return true
  }

  #alias(name: string, offset: number): void {
    const target = this.#anchors.get(name)
    const mark = this.#markAt(offset)
    if (target === undefined)
      throw new ConfigFault(`(${mark.file}): Unknown alias: ${name} at line ${mark.line} column ${mark.column}`, mark)
    const nodes = typeof target === 'object' && target !== null ? (this.#nodes.get(target) ?? null) : 1
    // An alias to a value that is not closed yet: the value contains itself.
    if (nodes === null && !(target instanceof Reference)) throw tooBig(mark)
    this.#spend(nodes ?? 1, mark)
    const parent = this.#frames.at(-1)
    if (parent && !Array.isArray(parent.container) && !parent.key) {
      if (typeof target === 'object' && target !== null) throw noKey(mark)
      this.#key(textOf(target), mark)
    } else this.#add(target, nodes ?? 1)
  }

  #spend(nodes: number, mark: Mark): void {
    this.#aliased += nodes
    if (this.#aliased > MOST_ALIASED) throw tooBig(mark)
  }

  #scalar(event: ScalarEvent): void {
    const isPlain = event.style === SCALAR_STYLE.PLAIN
    const text = event.valueStart < 0 ? '' : getScalarValue(this.#source.text, event)
    const mark = event.valueStart < 0 ? this.#markHere() : this.#markAt(event.valueStart)
    const tag = this.#tagOf(event)
    const filled = this.#source.fill?.(text, mark)
    let value: Value = text
    if (!filled) value = isPlain && tag === '' ? resolvePlain(text) : text
    else if (!isPlain || typeof filled.value !== 'string') value = filled.value
    else value = resolvePlain(filled.value)
    const anchor = this.#anchorOf(event)
    if (anchor !== null) this.#anchors.set(anchor, value)
    const parent = this.#frames.at(-1)
    if (!parent || Array.isArray(parent.container) || parent.key) this.#add(value, 1)
    else if (isPlain && text === '<<') parent.key = { name: text, mark, merges: true }
    // A key keeps its written text: `on` does not become `true`.
    else this.#key(filled ? textOf(value) : text, typeof value === 'string' ? mark : { ...mark, odd: true })
  }

  /** The position of a missing value. */
  #markHere(): Mark {
    const parent = this.#frames.at(-1)
    return parent?.key?.mark ?? parent?.mark ?? this.#markAt(0)
  }

  #key(name: string, mark: Mark): void {
    this.#frames.at(-1)!.key = { name, mark, merges: false }
  }

  #add(value: Value, nodes: number): void {
    const parent = this.#frames.at(-1)
    if (!parent) {
      this.#result = value
      return
    }
    parent.nodes += nodes
    if (Array.isArray(parent.container)) {
      parent.container.push(value)
      return
    }
    const { name, mark, merges } = parent.key!
    parent.key = undefined
    if (merges) this.#merge(parent.container, value, mark)
    else put(parent.container, name, value, mark)
  }

  /** Keys of the mapping itself win, then the keys that were merged first. */
  #merge(into: Mapping, value: Value, mark: Mark): void {
    for (const from of Array.isArray(value) ? value : [value]) {
      if (!isMapping(from))
        throw new ConfigFault(`(${mark.file}): << needs a mapping at line ${mark.line} column ${mark.column}`, mark)
      for (const key of Object.keys(from)) {
        this.#spend(1, mark)
        if (!(key in into)) put(into, key, from[key]!, markOf(from, key))
      }
    }
  }
}

const noKey = (mark: Mark) =>
  new ConfigFault(`(${mark.file}): a key must be a text at line ${mark.line} column ${mark.column}`, mark)

const textOf = (value: Value): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

const NULLS = new Set(['', '~', 'null', 'Null', 'NULL'])
const BOOLEANS = new Map([
  ...['yes', 'true', 'on'].map((word) => [word, true] as const),
  ...['no', 'false', 'off'].map((word) => [word, false] as const),
])

/** Resolves a plain scalar by the rules of YAML 1.1. Dates stay texts. */
export function resolvePlain(text: string): Value {
  if (NULLS.has(text)) return null
  const boolean = text.length < 6 ? BOOLEANS.get(text.toLowerCase()) : undefined
  if (boolean !== undefined) return boolean
  return /^[-+.\d]/.test(text) && text.length < 40 ? numberIn(text) : text
}

function numberIn(text: string): string | number {
  const sign = text.startsWith('-') ? -1 : 1
  const digits = text.replace(/^[-+]/, '').replaceAll('_', '')
  if (!/^[-+]?[\d.]/.test(text)) return text
  if (/^(0|[1-9]\d*)$/.test(digits)) return exact(sign * Number(digits), text)
  if (/^0[0-7]+$/.test(digits)) return exact(sign * parseInt(digits, 8), text)
  if (/^0x[\da-fA-F]+$|^0b[01]+$/.test(digits)) return exact(sign * Number(digits), text)
  if (/^\d+(:[0-5]?\d){1,2}$/.test(digits))
    return sign * digits.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  if (!/^\d*\.\d*(?:[eE][-+]\d+)?$/.test(digits) || !/\d/.test(digits)) return text
  const number = sign * Number(digits)
  // `1.0` stays a text, because as a number it would become `1`.
  return Number.isInteger(number) ? text : number
}

const exact = (number: number, text: string) => (Number.isSafeInteger(number) ? number : text)
