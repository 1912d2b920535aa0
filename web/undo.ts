/** Undo: the page shows what was done, with a form that reverts it. */
import type { Flash } from './page.ts'
import * as common from './texts/common.ts'

export interface Undo {
  readonly action: string
  /** Names may occur several times. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly word: string
}

/** A link in the message about an action. */
export interface FlashLink {
  readonly href: string
  readonly text: string
}

/** Shown once on the page `to`, with a link. */
export const doneWithLink = (done: string, to: string, link: FlashLink): Flash => ({
  to,
  flash: { done, link: JSON.stringify(link) },
})

type Fields = Readonly<Record<string, string | number | readonly (string | number)[]>>

/** Shown once on the next page. Lists become repeated fields: `labels[]`. */
export function undoable(done: string, action: string, fields: Fields = {}, word = common.undo): Flash {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((one: string | number) => [`${name}[]`, String(one)] as const)
      : [[name, String(value)] as const],
  )
  const undo: Undo = { action, fields: pairs, word }
  return { flash: { done, undo: JSON.stringify(undo) } }
}
