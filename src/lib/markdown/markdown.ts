/**
 * The door to Markdown: `referencesIn()` tells what a text names, whoever asked looks these up, and `renderMarkdown()`
 * shows it with what was found. The work is done in the rendering threads, with a deadline. Only short texts without code
 * are read at once: their time grows with their length, while a grammar may take seconds for a few kilobytes of code.
 */
import type { LimitedCaller } from '../async/limiter.ts'
import { Lru } from '../async/lru.ts'
import type { Tracker } from '../text/tracker-keys.ts'
import { escapeHtml } from './html.ts'
import type { TextReference } from './inline.ts'
import { resolutionKey } from './keys.ts'
import { digestOf, isShort, performElsewhere, performHere } from './performing.ts'
import type { LinkBases } from './link-bases.ts'
import type { Resolution } from './render.ts'
import type { ReferencesTask, RenderTask } from './tasks.ts'

export { resolutionKey }
export type { TextReference } from './inline.ts'
export type { LinkBases } from './link-bases.ts'
export type { Resolution } from './render.ts'

/** A few characters of a text may be hundreds of HTML. */
const LONGEST_HTML = 8_000_000

/** By `resolutionKey()`. */
export type Resolutions = Readonly<Record<string, Resolution>>

/** By the digest of all that they are made of, so neither is ever out of date. */
const named = new Lru<TextReference[]>(20_000, (found) => 1 + found.length)
const rendered = new Lru<string>(16_000_000, (html) => 200 + 2 * html.length)

/** Nothing of a text that takes too long. */
export async function referencesIn(
  text: string,
  base: string | null = null,
  caller?: LimitedCaller,
): Promise<TextReference[]> {
  const task: ReferencesTask = { kind: 'references', text, base }
  if (isShort(text)) return performHere(task)
  const digest = digestOf(text)
  const key = `references ${base} ${digest}`
  const known = named.get(key)
  if (known) return known
  const found = await performElsewhere(task, { key, digest, length: text.length, caller })
  if (found) named.set(key, found)
  return found ?? []
}

/** Those of one text, where several were looked up together: what it is made of is all it is remembered by. */
export const resolutionsOf = (named: readonly TextReference[], all: Resolutions): Resolutions =>
  Object.fromEntries(
    named.flatMap((one) => {
      const found = all[resolutionKey(one)]
      return found ? [[resolutionKey(one), found]] : []
    }),
  )

export interface Surroundings {
  readonly base?: string | null
  readonly resolutions?: Resolutions
  readonly places?: LinkBases
  /** Whose issues are links, too. */
  readonly tracker?: Tracker | null
  /** Who waits for it; absent in the background. */
  readonly caller?: LimitedCaller | undefined
}

/** A text that takes too long is shown as it is written. */
export async function renderMarkdown(text: string, around: Surroundings = {}): Promise<string> {
  const { base = null, resolutions = {}, places = {}, tracker = null, caller } = around
  const digest = digestOf(text)
  const key = `render ${digest} ${digestOf([base, resolutions, places, tracker])}`
  const kept = rendered.get(key)
  if (kept !== undefined) return kept
  const task: RenderTask = { kind: 'render', text, base, resolutions, places, tracker }
  const html = await (isShort(text)
    ? performHere(task)
    : performElsewhere(task, { key, digest, length: text.length, caller }))
  if (html === null || html.length > Math.max(LONGEST_HTML, text.length)) return `<pre>${escapeHtml(text)}</pre>`
  rendered.set(key, html)
  return html
}
