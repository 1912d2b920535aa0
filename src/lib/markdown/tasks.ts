/** One question about a text as data, so that a thread can be asked it. */
import type { Tracker } from '../tracker-keys.ts'
import { resolutionKey } from './keys.ts'
import type { TextReference } from './inline.ts'
import { locator, type Places } from './places.ts'
import { references, renderMarkdown, type Resolution } from './render.ts'

export interface Task {
  readonly text: string
  readonly base: string | null
  /** What it names, unless it is to be rendered. */
  readonly render?: {
    readonly resolutions: Readonly<Record<string, Resolution>>
    readonly places: Places
    readonly tracker: Tracker | null
  }
}

export type Answer = string | TextReference[]

export function perform({ text, base, render }: Task): Answer {
  if (!render) return references(text, { base })
  const { resolutions, places, tracker } = render
  const resolve = (reference: TextReference) => {
    const key = resolutionKey(reference)
    return Object.hasOwn(resolutions, key) ? resolutions[key]! : null
  }
  return renderMarkdown(text, { base, resolve, tracker, locate: locator(places) })
}
