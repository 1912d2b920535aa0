/**
 * The door to Markdown: `referencesIn()` tells what a text names, whoever asked looks these up, and `renderMarkdown()`
 * shows it with what was found. Short texts are read at once; long ones in a thread of their own, one at a time and
 * not for ever, as a megabyte written to hurt takes seconds.
 */
import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { Lru } from '../lru.ts'
import type { Tracker } from '../tracker-keys.ts'
import { escapeHtml } from './html.ts'
import type { TextReference } from './inline.ts'
import { resolutionKey } from './keys.ts'
import type { Places } from './places.ts'
import type { Resolution } from './render.ts'
import type { Answer, Task } from './tasks.ts'

export { resolutionKey }
export type { TextReference } from './inline.ts'
export type { Places } from './places.ts'
export type { Resolution } from './render.ts'

const LONGEST_AT_ONCE = 10_000
const DEADLINE = 20_000
/** Of the thread, without work. */
const IDLE = 5_000

/** By `resolutionKey()`. */
export type Resolutions = Readonly<Record<string, Resolution>>

/** Nothing of a text that takes too long. */
export async function referencesIn(text: string, base: string | null = null): Promise<TextReference[]> {
  return ((await answer({ text, base })) as TextReference[] | null) ?? []
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
  readonly places?: Places
  /** Whose issues are links, too. */
  readonly tracker?: Tracker | null
}

/** By the digest of all that it is made of, so it is never out of date. */
const rendered = new Lru<string>(16_000_000, (html) => 200 + 2 * html.length)

/** A text that takes too long is shown as it is written. */
export async function renderMarkdown(text: string, around: Surroundings = {}): Promise<string> {
  const { base = null, resolutions = {}, places = {}, tracker = null } = around
  const task: Task = { text, base, render: { resolutions, places, tracker } }
  const key = createHash('sha256').update(JSON.stringify(task)).digest('base64')
  const kept = rendered.get(key)
  if (kept !== undefined) return kept
  const html = (await answer(task)) as string | null
  if (html === null) return `<pre>${escapeHtml(text)}</pre>`
  rendered.set(key, html)
  return html
}

async function answer(task: Task): Promise<Answer | null> {
  if (task.text.length > LONGEST_AT_ONCE) return inThread(task)
  const { perform } = await import('./tasks.ts')
  return perform(task)
}

let thread: Worker | null = null
let idle: NodeJS.Timeout | undefined
let last: Promise<unknown> = Promise.resolve()

/** After those before it. */
function inThread(task: Task): Promise<Answer | null> {
  const turn = last.then(() => askThread(task))
  last = turn.catch(() => {})
  return turn
}

function askThread(task: Task): Promise<Answer | null> {
  clearTimeout(idle)
  const worker = (thread ??= startThread())
  worker.ref()
  return new Promise((resolve, reject) => {
    const end = (dies: boolean) => {
      clearTimeout(deadline)
      worker.off('message', onAnswer).off('error', onError)
      worker.unref()
      if (dies) dropThread()
      else idle = setTimeout(dropThread, IDLE).unref()
    }
    const onAnswer = (answer: Answer) => {
      end(false)
      resolve(answer)
    }
    const onError = (error: unknown) => {
      end(true)
      reject(error)
    }
    const deadline = setTimeout(() => {
      end(true)
      resolve(null)
    }, DEADLINE)
    worker.on('message', onAnswer).on('error', onError)
    worker.postMessage(task)
  })
}

function dropThread(): void {
  void thread?.terminate()
  thread = null
}

function startThread(): Worker {
  // Beside this file as a source, in the folder of the bundle otherwise.
  const file = import.meta.url.endsWith('.ts') ? './thread.ts' : './markdown-thread.js'
  return new Worker(new URL(file, import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 512 } })
}
