/**
 * The entry point to Markdown: `referencesIn()` lists the references of a text, the caller looks them up, and
 * `renderMarkdown()` renders the text with the results. The work runs in the rendering threads, with a deadline. Only
 * short texts without code run on this thread: their time grows with their length, while a highlighting grammar may
 * take seconds for a few kilobytes of code.
 */
import type { LimitedCaller } from '../async/limiter.ts'
import { Lru } from '../async/lru.ts'
import { mayRefer } from '../text/references.ts'
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

/** A few characters of text may become hundreds of HTML. */
const LONGEST_HTML = 8_000_000

/** By `resolutionKey()`. */
export type Resolutions = Readonly<Record<string, Resolution>>

/** Caches by the digest of all inputs, so that no entry is ever out of date. */
const named = new Lru<TextReference[]>('references in texts', (found) => 200 * (1 + found.length))
const rendered = new Lru<string>('rendered texts', (html) => 200 + 2 * html.length)

/** Returns no references for a text that takes too long. */
export async function referencesIn(
  text: string,
  base: string | null = null,
  caller?: LimitedCaller,
): Promise<TextReference[]> {
  if (!mayRefer(text)) return []
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

/** The resolutions of one text, if several texts were looked up together: the cache key contains only its own. */
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
  readonly linkBases?: LinkBases
  /** Its issues become links too. */
  readonly tracker?: Tracker | null
  /** The waiting caller; absent in background work. */
  readonly caller?: LimitedCaller | undefined
}

/** A text that takes too long is shown unrendered. */
export async function renderMarkdown(text: string, around: Surroundings = {}): Promise<string> {
  const { base = null, resolutions = {}, linkBases = {}, tracker = null, caller } = around
  const digest = digestOf(text)
  const key = `render ${digest} ${digestOf([base, resolutions, linkBases, tracker])}`
  const kept = rendered.get(key)
  if (kept !== undefined) return kept
  const task: RenderTask = { kind: 'render', text, base, resolutions, linkBases, tracker }
  const html = await (isShort(text)
    ? performHere(task)
    : performElsewhere(task, { key, digest, length: text.length, caller }))
  if (html === null || html.length > Math.max(LONGEST_HTML, text.length)) return `<pre>${escapeHtml(text)}</pre>`
  rendered.set(key, html)
  return html
}
