/** Tasks on texts as plain data, so that they can be sent to a thread. */
import type { Tracker } from '../text/tracker-keys.ts'
import { codeLines, type CodeBlock } from './code-lines.ts'
import { resolutionKey } from './keys.ts'
import type { TextReference } from './inline.ts'
import { locator, type LinkBases } from './link-bases.ts'
import { references, renderMarkdown, type Resolution } from './render.ts'

/** The references of a text. */
export interface ReferencesTask {
  readonly kind: 'references'
  readonly text: string
  readonly base: string | null
}

export interface RenderTask {
  readonly kind: 'render'
  readonly text: string
  readonly base: string | null
  readonly resolutions: Readonly<Record<string, Resolution>>
  readonly linkBases: LinkBases
  readonly tracker: Tracker | null
}

/** Each line of code as HTML; null for a block that stays unchanged. */
export interface CodeTask {
  readonly kind: 'code'
  readonly blocks: readonly CodeBlock[]
}

export type Task = ReferencesTask | RenderTask | CodeTask

export interface Results {
  readonly references: TextReference[]
  readonly render: string
  readonly code: (string[] | null)[]
}

export type ResultOf<T extends Task> = Results[T['kind']]

export function perform<T extends Task>(task: T): ResultOf<T>
export function perform(task: Task): Results[Task['kind']] {
  if (task.kind === 'code') return codeLines(task.blocks)
  const { text, base } = task
  if (task.kind === 'references') return references(text, { base })
  const { resolutions, linkBases, tracker } = task
  const resolve = (reference: TextReference) => {
    const key = resolutionKey(reference)
    return Object.hasOwn(resolutions, key) ? resolutions[key]! : null
  }
  return renderMarkdown(text, { base, resolve, tracker, locate: locator(linkBases) })
}
