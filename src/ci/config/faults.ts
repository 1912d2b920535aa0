import { markOf, startOf, type Mapping, type Mark } from './tree.ts'

export interface Fault {
  readonly message: string
  readonly file?: string
  readonly line?: number
  readonly column?: number
}

const MOST_FAULTS = 100
const LONGEST_MESSAGE = 2000

export const faultAt = (message: string, mark?: Mark): Fault =>
  mark ? { message, file: mark.file, line: mark.line, column: mark.column } : { message }

/** A pattern that must be valid. It is checked later, because the check takes time. */
export interface Claim {
  readonly pattern: string
  readonly refuse: () => void
}

/** Collects all errors of one configuration. */
export class Faults {
  readonly list: Fault[] = []
  readonly warnings: string[] = []
  readonly claims: Claim[] = []

  add(message: string, mark?: Mark): void {
    if (this.list.length < MOST_FAULTS) this.list.push(faultAt(message.slice(0, LONGEST_MESSAGE), mark))
  }

  warn(message: string): void {
    if (this.warnings.length < MOST_FAULTS) this.warnings.push(message)
  }
}

/** A position in the configuration: its name in messages, and its line. */
export class Spot {
  readonly faults: Faults
  readonly path: string
  readonly mark: Mark | undefined

  constructor(faults: Faults, path: string, mark: Mark | undefined) {
    this.faults = faults
    this.path = path
    this.mark = mark
  }

  /** The value of one key of the mapping at this position. */
  at(mapping: Mapping, key: string, label = key): Spot {
    return new Spot(this.faults, this.path === '' ? label : `${this.path}:${label}`, markOf(mapping, key) ?? this.mark)
  }

  /** An item of the list at this position. */
  item(item: unknown, label: string): Spot {
    const mark = typeof item === 'object' && item !== null ? startOf(item as Mapping) : undefined
    return new Spot(this.faults, `${this.path}:${label}`, mark ?? this.mark)
  }

  say(text: string): undefined {
    this.faults.add(`${this.path} ${text}`, this.mark)
  }

  config(text: string): undefined {
    this.say(`config ${text}`)
  }

  /** Adds an error such as `expire in should be a duration`. */
  attribute(mapping: Mapping, key: string, text: string): undefined {
    this.faults.add(`${this.path} ${key.replaceAll('_', ' ')} ${text}`, markOf(mapping, key) ?? this.mark)
  }
}
