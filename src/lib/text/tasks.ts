/** Task items of a Markdown text: list items that begin with a box, `- [ ] text` or `1. [x] text`. */
import { linesOf } from './prose.ts'

export interface TaskItem {
  /** Counted from zero. */
  readonly line: number
  readonly checked: boolean
  readonly text: string
}

const ITEM = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\][ \t]+(\S.*)$/
/** The first box of such a line. */
const BOX = /^([^[]*\[)[ xX]/

export function taskItems(text: string): TaskItem[] {
  return linesOf(text).flatMap((line, at) => {
    const [, box, written] = (line.block !== 'code' && line.text.includes('[') && ITEM.exec(line.text.trimEnd())) || []
    return written === undefined ? [] : [{ line: at, checked: box !== ' ', text: written }]
  })
}

export interface TaskCompletion {
  readonly count: number
  readonly completed_count: number
}

export function taskCompletion(text: string): TaskCompletion {
  const items = taskItems(text)
  return { count: items.length, completed_count: items.filter(({ checked }) => checked).length }
}

/** Null without tasks. */
export function taskStatus({ count, completed_count }: TaskCompletion): string | null {
  return count === 0 ? null : `${completed_count} of ${count} ${count === 1 ? 'task' : 'tasks'} completed`
}

/** The toggled items in their new state. Null if more than boxes differs. */
export function toggledTasks(before: string, after: string): TaskItem[] | null {
  const [was, is] = [taskItems(before), taskItems(after)]
  if (before === after || withEmptyBoxes(before, was) !== withEmptyBoxes(after, is)) return null
  return is.filter((item, n) => item.checked !== was[n]!.checked)
}

/** With every box unchecked. */
function withEmptyBoxes(text: string, items: readonly TaskItem[]): string {
  const lines = text.split('\n')
  for (const { line } of items) lines[line] = lines[line]!.replace(BOX, '$1 ')
  return lines.join('\n')
}
