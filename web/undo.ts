/** What was done can be taken back: the page says so, with a form that does the reverse. */
import type { Flash } from './page.ts'

export interface Undo {
  readonly action: string
  /** Names may come several times. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly word: string
}

type Fields = Readonly<Record<string, string | number | readonly (string | number)[]>>

/** Told once on the page that follows. Lists are fields that come several times: `labels[]`. */
export function undoable(done: string, action: string, fields: Fields = {}, word = 'Undo'): Flash {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((one: string | number) => [`${name}[]`, String(one)] as const)
      : [[name, String(value)] as const],
  )
  const undo: Undo = { action, fields: pairs, word }
  return { told: { done, undo: JSON.stringify(undo) } }
}
